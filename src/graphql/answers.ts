import type { ExecutionResult } from "postgraphile/graphql";
import { isErrorCodeName } from "../database/error_codes.ts";
import type { ErrorCodeName } from "../database/error_codes.ts";

/**
 * What a request gets: its answer as JSON, from a thread in UTF-8, with the codes of its errors, each
 * once; or why it has none.
 */
export type GraphqlAnswer =
  | { status: 200 | 400; json: string | Uint8Array; codes: ErrorCodeName[] }
  | { rejection: GraphqlRejection };

/** UNAVAILABLE: the schema of the database can't be read. The others are codes of the exchange. */
export type GraphqlRejection = "CONFLICT_RETRY" | "OUTCOME_UNKNOWN" | "UNAVAILABLE";

/** What to do about a mutation with OUTCOME_UNKNOWN: most have no key by which to repeat them. */
export const WHEN_UNKNOWN = "look at the audit log before you repeat it";

/** Of an answer as JSON. A statement of 20,000 rows has about 4,000,000. */
const MAX_ANSWER_BYTES = 10_000_000;

const tooLong = JSON.stringify({
  errors: [
    {
      message:
        `The answer has more than ${MAX_ANSWER_BYTES} bytes: ask for less, or use SQL. ` +
        "What a mutation changed stays changed",
      extensions: { code: "INVALID_REQUEST" },
    },
  ],
});

/** The answer with this result, whose errors are fit to be shown. */
export function answerOf({ data, errors }: ExecutionResult): GraphqlAnswer {
  for (const code of ["CONFLICT_RETRY", "OUTCOME_UNKNOWN"] as const) {
    if (isOnly(code, data, errors)) return { rejection: code };
  }
  const json = jsonWithin(MAX_ANSWER_BYTES, { data, errors });
  if (json === undefined) return { status: 400, json: tooLong, codes: ["INVALID_REQUEST"] };
  const status = isFaultOfRequest(data, errors) ? 400 : 200;
  return { status, json, codes: codesOf(data, errors) };
}

/** Errors of a text that was not run have no code of their own. */
function codesOf(data: ExecutionResult["data"], errors: ExecutionResult["errors"] = []) {
  const codes = errors.map(({ extensions }) =>
    data === undefined ? "INVALID_REQUEST" : String(extensions.code),
  );
  return [...new Set(codes)].filter((code) => isErrorCodeName(code));
}

/** Whether nothing was run, or everything that was run found its arguments invalid. */
function isFaultOfRequest(data: ExecutionResult["data"], errors: ExecutionResult["errors"]) {
  return data === undefined || isOnly("INVALID_REQUEST", data, errors);
}

/** Whether everything that was run failed with this code. */
function isOnly(code: string, data: ExecutionResult["data"], errors: ExecutionResult["errors"]) {
  const isEmpty = Object.values(data ?? {}).every((value) => value === null);
  return isEmpty && errors?.every(({ extensions }) => extensions.code === code) === true;
}

/**
 * A value as JSON, or undefined if that has more bytes than this. The value is measured first: many
 * fields may share one text, and no string can hold what they are together.
 */
export function jsonWithin(most: number, value: object): string | undefined {
  let left = most;

  function fits(part: unknown): boolean {
    left -= 1;
    if (typeof part === "string") left -= part.length;
    if (left < 0) return false;
    if (typeof part !== "object" || part === null) return true;
    if (Array.isArray(part)) return part.every(fits);
    return Object.keys(part).every((name) => {
      left -= name.length;
      return fits((part as Record<string, unknown>)[name]);
    });
  }

  if (!fits(value)) return undefined;
  const json = JSON.stringify(value);
  return Buffer.byteLength(json) > most ? undefined : json;
}
