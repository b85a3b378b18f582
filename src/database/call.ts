import type { ClientBase, CustomTypesConfig, Pool } from "pg";
import { withRetries } from "./failures.ts";
import type { RetryOptions } from "./failures.ts";
import { databaseTypes } from "./types.ts";

/**
 * How functions of the database are declared and called. `calls.ts` has the table of them. A call is
 * one statement with named arguments, which each connection plans once.
 */

/** A type of PostgreSQL, by its name in `format_type`, and its values in TypeScript. */
export interface SqlType<Value> {
  name: string;
  isNullable?: boolean;
  /** Converts a value before it is sent. */
  encode?(value: Value): unknown;
  /** Only for the compiler: never set. */
  value?: Value;
}

export const sqlType = <Value>(name: string): SqlType<Value> => ({ name });

export const boolean = sqlType<boolean>("boolean");
export const bytea = sqlType<Buffer>("bytea");
export const inet = sqlType<string>("inet");
export const int = sqlType<number>("integer");
export const bigint = sqlType<number>("bigint");
/** A day, as YYYY-MM-DD. */
export const date = sqlType<string>("date");
export const double = sqlType<number>("double precision");
export const interval = sqlType<string>("interval");
export const text = sqlType<string>("text");
export const timestamp = sqlType<string>("timestamp with time zone");
export const uuid = sqlType<string>("uuid");
/** JSON that the database made, as text. It is passed on unchanged. */
export const json = sqlType<string>("json");

/** An argument that is sent as JSON. */
export const asJson = <Value>(name: "json" | "jsonb"): SqlType<Value> => ({
  name,
  encode: (value) => JSON.stringify(value),
});

export const arrayOf = <Value>({ name }: SqlType<Value>): SqlType<readonly Value[]> => ({
  name: `${name}[]`,
});

/** A column that may be null, or an argument that may be left out. */
export const nullable = <Value>(type: SqlType<Value>): SqlType<Value | null> => ({
  ...(type as SqlType<Value | null>),
  isNullable: true,
});

/** Arguments or columns by name, in camel case: the database's names are in snake case. */
export type Fields = Record<string, SqlType<unknown>>;

type ValueOf<Type> = Type extends SqlType<infer Value> ? Value : never;

/** The TypeScript type of a row with these columns. */
export type RowOf<Columns extends Fields> = { [Name in keyof Columns]: ValueOf<Columns[Name]> };

type NullableNames<Arguments extends Fields> = {
  [Name in keyof Arguments]: null extends ValueOf<Arguments[Name]> ? Name : never;
}[keyof Arguments];

/** The TypeScript type of these arguments. Those that may be null may be left out. */
export type ArgumentsOf<Arguments extends Fields> = {
  [Name in Exclude<keyof Arguments, NullableNames<Arguments>>]: ValueOf<Arguments[Name]>;
} & { [Name in NullableNames<Arguments>]?: ValueOf<Arguments[Name]> | undefined };

type Row = Record<string, unknown>;

/** What a function returns: a value or named columns, in one row or in any number. */
export interface Result<Value> {
  type: SqlType<unknown> | Fields;
  isSet: boolean;
  read: (rows: Row[]) => Value;
}

const valueOf = (row: Row): unknown => row.value;

export const nothing: Result<void> = { type: sqlType("void"), isSet: false, read: () => undefined };

export const one = <Value>(type: SqlType<Value>): Result<Value> => ({
  type,
  isSet: false,
  read: (rows) => valueOf(theOnly(rows)) as Value,
});

export const many = <Value>(type: SqlType<Value>): Result<Value[]> => ({
  type,
  isSet: true,
  read: (rows) => rows.map(valueOf) as Value[],
});

export const oneRow = <Columns extends Fields>(type: Columns): Result<RowOf<Columns>> => ({
  type,
  isSet: false,
  read: (rows) => theOnly(rows) as RowOf<Columns>,
});

export const rowIfFound = <Columns extends Fields>(
  type: Columns,
): Result<RowOf<Columns> | undefined> => ({
  type,
  isSet: true,
  read: ([row]) => row as RowOf<Columns> | undefined,
});

export const manyRows = <Columns extends Fields>(type: Columns): Result<RowOf<Columns>[]> => ({
  type,
  isSet: true,
  read: (rows) => rows as RowOf<Columns>[],
});

/** One function, as a line of the table declares it. */
export interface Declaration<Arguments extends Fields, Value> {
  arguments: Arguments;
  result: Result<Value>;
  /** Whether it may be called again although it may have been carried out. */
  isRepeatable: boolean;
  /** A longer call fails, and its connection is closed. */
  timeoutMs: number;
}

/** A function of the database. */
export interface DatabaseFunction<Arguments extends Fields, Value> extends Declaration<
  Arguments,
  Value
> {
  name: string;
  /** The statement that calls it. */
  text: string;
}

const DEFAULT_TIMEOUT_MS = 30_000;

const declare =
  (isRepeatable: boolean) =>
  <Arguments extends Fields, Value>(
    args: Arguments,
    result: Result<Value>,
    { timeoutMs = DEFAULT_TIMEOUT_MS } = {},
  ): Declaration<Arguments, Value> => ({ arguments: args, result, isRepeatable, timeoutMs });

/** A function that may be called again although it may have been carried out, like every read. */
export const repeatable = declare(true);

/** A function that is called again only if the first call certainly had no effect. */
export const once = declare(false);

/** The functions of a schema. Their names there are those of the table, in snake case. */
export function functionsOf<Table extends Record<string, Declaration<Fields, unknown>>>(
  schema: string,
  table: Table,
): {
  [Name in keyof Table]: Table[Name] extends Declaration<infer Arguments, infer Value>
    ? DatabaseFunction<Arguments, Value>
    : never;
} {
  const entries = Object.entries(table).map(([key, declaration]) => {
    const name = snakeCase(key);
    return [key, { ...declaration, name, text: statementOf(`${schema}.${name}`, declaration) }];
  });
  return Object.fromEntries(entries) as ReturnType<typeof functionsOf<Table>>;
}

/**
 * A call locks this table until its end, before it looks up a function: `on false` reads no row of
 * it. The installer of functions waits for the lock; see install.ts.
 */
const LOCKED = "(select from installer.installations) as locked";

function statementOf(
  name: string,
  { arguments: args, result: { type, isSet } }: Declaration<Fields, unknown>,
): string {
  // Some names, such as "order", are words of SQL.
  const given = Object.keys(args).map((key, index) => `"${snakeCase(key)}" => $${index + 1}`);
  const invocation = `${name}(${given.join(", ")})`;
  if (isColumns(type)) {
    const columns = Object.keys(type).map((key) => `${snakeCase(key)} as "${key}"`);
    return `select ${columns.join(", ")} from ${LOCKED} right join ${invocation} on false`;
  }
  return isSet
    ? `select value from ${LOCKED} right join ${invocation} as value on false`
    : `select ${invocation} as value from ${LOCKED} right join (select) as once on false`;
}

/** Whether a function returns named columns. */
export function isColumns(type: SqlType<unknown> | Fields): type is Fields {
  return typeof type.name !== "string";
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Calls a function once, on this connection. */
export async function call<Arguments extends Fields, Value>(
  client: ClientBase,
  {
    arguments: types,
    name,
    result,
    text: statement,
    timeoutMs,
  }: DatabaseFunction<Arguments, Value>,
  given: ArgumentsOf<Arguments>,
): Promise<Value> {
  const values = Object.entries(types).map(([key, type]) => {
    const value = (given as Row)[key];
    return type.encode === undefined ? value : type.encode(value);
  });
  // Named: each connection plans it once.
  const query = { name, text: statement, values, types: jsonAsText, query_timeout: timeoutMs };
  return result.read((await client.query<Row>(query)).rows);
}

/** A function on the connections of a pool. */
type CallOn<Arguments extends Fields, Value> = (
  ...given: Record<string, never> extends ArgumentsOf<Arguments>
    ? [given?: ArgumentsOf<Arguments>, options?: Omit<RetryOptions, "repeatable">]
    : [given: ArgumentsOf<Arguments>, options?: Omit<RetryOptions, "repeatable">]
) => Promise<Value>;

/** The functions of a table on the connections of a pool. */
export type CallsOn<Table> = {
  [Name in keyof Table]: Table[Name] extends DatabaseFunction<infer Arguments, infer Value>
    ? CallOn<Arguments, Value>
    : never;
};

/**
 * Each call has a connection of its own, and is repeated as its line allows. A call that may wait for
 * locks is given a `turn`; see ../engine/user_turns.ts.
 */
export function callsOn<Table extends object>(pool: Pool, table: Table): CallsOn<Table> {
  const entries = Object.entries(table).map(
    ([key, called]: [string, DatabaseFunction<Fields, unknown>]) => {
      const { isRepeatable } = called;
      const callOn: CallOn<Fields, unknown> = (given = {}, options = {}) =>
        withRetries(pool, (client) => call(client, called, given), {
          ...options,
          repeatable: isRepeatable,
        });
      return [key, callOn];
    },
  );
  return Object.fromEntries(entries) as CallsOn<Table>;
}

const JSON_TYPE = 114;

const parserOf = databaseTypes.getTypeParser as (oid: number, format?: string) => unknown;

const jsonAsText: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: string): unknown =>
    oid === JSON_TYPE
      ? (value: string) => value
      : parserOf(oid, format)) as CustomTypesConfig["getTypeParser"],
};

function theOnly(rows: Row[]): Row {
  const [row] = rows;
  if (row === undefined)
    throw new TypeError("A database function that always returns a row returned none");
  return row;
}
