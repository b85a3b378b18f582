import test from "ava";
import { isColumns, snakeCase } from "../../src/database/call.ts";
import type { DatabaseFunction, Fields, SqlType } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import { jobs } from "../../src/database/job_calls.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";

/** The table of calls says what the catalogue of the database says. */

let database: OwnDatabase;

test.before("make a database", async () => {
  database = await createDatabase();
});
test.after.always("drop it", async () => {
  await database.drop();
});

const tables = { api, jobs } as Record<string, Record<string, DatabaseFunction<Fields, unknown>>>;

/** A function as the catalogue has it. */
interface Found {
  name: string;
  isStable: boolean;
  isSet: boolean;
  type: string;
  /** Those given and those returned, in the order of their declaration. */
  arguments: { name: string; type: string; isReturned: boolean; preset: string | null }[];
  /** Of a function that returns a composite type. */
  columns: { name: string; type: string }[];
}

/**
 * How the comment of a function begins that only servers and workers of the version before call: it
 * may be missing in the table.
 */
const forTheVersionBefore = "^For (servers|workers) of version 0[.]2[.]0:";

async function listFunctions(schema: string): Promise<Found[]> {
  const { rows } = await database.pool.query<Found>(
    `select
       p.proname as name,
       p.provolatile <> 'v' as "isStable",
       p.proretset as "isSet",
       format_type(p.prorettype, null) as type,
       array(
         select json_build_object(
           'name', a.name,
           'type', format_type(a.type, null),
           'isReturned', coalesce(a.mode in ('o', 't'), false),
           'preset', pg_get_function_arg_default(p.oid, a.place::int)
         )
         from unnest(
           coalesce(p.proallargtypes, p.proargtypes::oid[]), p.proargmodes, p.proargnames
         ) with ordinality as a (type, mode, name, place)
         order by a.place
       ) as arguments,
       array(
         select json_build_object('name', c.attname, 'type', format_type(c.atttypid, null))
         from pg_type as t
         join pg_attribute as c on c.attrelid = t.typrelid and c.attnum > 0
         where t.oid = p.prorettype
         order by c.attnum
       ) as columns
     from pg_proc as p
     where p.pronamespace = $1::regnamespace
       and (
         p.proname = any ($2)
         or obj_description(p.oid, 'pg_proc') !~ $3
       )
     order by p.proname`,
    [schema, Object.values(tables[schema] ?? {}).map(({ name }) => name), forTheVersionBefore],
  );
  return rows;
}

/** As "name type", with those in capitals replaced by what the database calls them. */
const shown = (fields: Fields): string[] =>
  Object.entries(fields).map(([name, { name: type }]) => `${snakeCase(name)} ${type}`);

const shownAs = ({ name, type }: { name: string; type: string }): string => `${name} ${type}`;

for (const [schema, table] of Object.entries(tables)) {
  test(`${schema}: the table has each function of the schema once`, async (t) => {
    const names = Object.values(table).map(({ name }) => name);
    t.deepEqual(
      names.toSorted(),
      (await listFunctions(schema)).map(({ name }) => name),
    );
  });

  test(`${schema}: arguments have the names and types of the catalogue`, async (t) => {
    for (const { name, arguments: all } of await listFunctions(schema)) {
      const declared = declaredAs(table, name).arguments;
      const taken = all.filter(({ isReturned }) => !isReturned);
      const given = taken.filter((argument) => argument.name in bySqlName(declared));
      t.deepEqual(shown(declared).toSorted(), given.map(shownAs).toSorted(), name);
      for (const argument of taken) {
        const type = bySqlName(declared)[argument.name];
        const label = `${name}: ${argument.name}`;
        // What a call never gives needs a default; what it may leave out is sent as null.
        if (type === undefined) t.not(argument.preset, null, label);
        else t.is(type.isNullable ?? false, argument.preset?.startsWith("NULL") ?? false, label);
      }
    }
  });

  test(`${schema}: results have the names and types of the catalogue`, async (t) => {
    for (const found of await listFunctions(schema)) {
      const { result } = declaredAs(table, found.name);
      const returned = found.arguments.filter(({ isReturned }) => isReturned);
      const columns = (returned.length > 0 ? returned : found.columns).map(shownAs);
      if (isColumns(result.type)) t.deepEqual(shown(result.type), columns, found.name);
      else t.deepEqual([result.type.name, []], [found.type, columns], found.name);
      // One row of named columns may be all that a set ever has.
      if (result.isSet || !isColumns(result.type)) t.is(found.isSet, result.isSet, found.name);
    }
  });

  test(`${schema}: reading functions may be repeated`, async (t) => {
    const reading = (await listFunctions(schema)).filter(({ isStable }) => isStable);
    t.true(reading.length > 0 || schema === "jobs");
    for (const { name } of reading) t.true(declaredAs(table, name).isRepeatable, name);
  });
}

test("commands of users are never repeated when their outcome is unknown", (t) => {
  const names = Object.values(tables)
    .flatMap((table) => Object.values(table))
    .filter(({ isRepeatable }) => !isRepeatable)
    .map(({ name }) => name);
  t.deepEqual(names.toSorted(), [
    ...["accept_staff_invitation", "add_passkey", "add_staff_passkey"],
    ...["change_email", "change_password"],
    ...["close_stream", "confirm_email", "convert_shares", "create_key"],
    ...["dispute_resolution", "lease_streams"],
    ...["open_stream", "place_orders", "remove_passkey"],
    ...["request_password_reset", "resend_confirmation", "reset_password", "return_requests"],
    ...["rotate_key", "run_command", "run_orders", "sign_in", "sign_in_by_link"],
    ...["sign_in_by_passkey", "sign_in_staff", "sign_up"],
    "take_mail",
  ]);
});

function declaredAs(
  table: Record<string, DatabaseFunction<Fields, unknown>>,
  name: string,
): DatabaseFunction<Fields, unknown> {
  const declared = Object.values(table).find((candidate) => candidate.name === name);
  if (declared === undefined) throw new Error(`${name} is not in the table`);
  return declared;
}

function bySqlName(fields: Fields): Record<string, SqlType<unknown>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, type]) => [snakeCase(name), type] as const),
  );
}
