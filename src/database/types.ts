import pg from "pg";
import type { CustomTypesConfig } from "pg";

const INT8 = 20;
const INT8_ARRAY = 1016;
const DATE = 1082;
const DATE_ARRAY = 1182;
const TEXT_ARRAY = 1009;

type Parser = (value: string) => unknown;

// The types of pg list only some of the type ids that it knows.
const parserOf = pg.types.getTypeParser as unknown as (oid: number, format?: string) => Parser;

function parseInt8(value: string): number {
  const parsed = Number(value);
  if (!Number.isSafeInteger(parsed)) {
    throw new RangeError(`bigint ${value} is beyond what a JavaScript number holds exactly`);
  }
  return parsed;
}

const parseTextArray = parserOf(TEXT_ARRAY) as (value: string) => (string | null)[];

function parseInt8Array(value: string): (number | null)[] {
  return parseTextArray(value).map((element) => (element === null ? null : parseInt8(element)));
}

const ownParsers = new Map<number, Parser>([
  [INT8, parseInt8],
  [INT8_ARRAY, parseInt8Array],
  // A date has no time zone. A Date would be midnight in the time zone of this process.
  [DATE, (value) => value],
  [DATE_ARRAY, parseTextArray],
]);

function getTypeParser(oid: number, format = "text"): Parser {
  const own = format === "text" ? ownParsers.get(oid) : undefined;
  return own ?? parserOf(oid, format);
}

/**
 * How values arrive from PostgreSQL, for every pool and client of this project: bigint as number
 * (an error when a number can't hold it), timestamptz as Date, date as text, json parsed. Each pool
 * gets it, since other libraries share the global settings of `pg`.
 */
export const databaseTypes = { getTypeParser } as CustomTypesConfig;
