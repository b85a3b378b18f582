import test from "ava";
import type { Client } from "pg";
import { migrateQueue } from "../../src/database/job_queue.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { makeLogin } from "../helpers/database/logins.ts";
import type { Login } from "../helpers/database/logins.ts";
import { buy } from "../helpers/exchange/orders.ts";

/**
 * Logins of the exchange's roles try to run functions of their own as exchange_owner, by temporary
 * objects that stand before what the exchange's functions name. PUBLIC has TEMPORARY here, so that
 * the functions' search_path is tried alone.
 */

const exchange = testExchange(test);
const { makeMarket, makeTrader, place } = exchange;
const roles = [
  ["exchange_api", "api"],
  ["exchange_worker", "jobs"],
  ["exchange_operator", "admin"],
  ["exchange_analyst", "analytics"],
] as const;

let market: string;
let trader: string;

test.before("trade", async () => {
  market = await makeMarket();
  const others = [await makeTrader(), await makeTrader()] as const;
  trader = others[0];
  await place(market, others[0], buy("yes", 10, 40));
  await place(market, others[1], buy("no", 4, 60));
});

const DENIED = "42501";

/** Types that functions name without a schema, or that casts and parameters have. */
const typeNames = [
  ...["text", "uuid", "timestamptz", "int8", "int4", "int2", "jsonb", "json", "bool", "bytea"],
  ...["numeric", "date", "interval", "float8", "oid", "regclass", "name", "xid8", "varchar"],
  ...["timestamp", "regrole", "regprocedure", "record_trap", "bigint", "integer", "boolean"],
];

/** Functions and operators that functions of the exchange use. */
const functionTraps = [
  ["now", "", "timestamptz", "pg_catalog.now()"],
  ["clock_timestamp", "", "timestamptz", "pg_catalog.now()"],
  ["sha256", "bytea", "bytea", "$1"],
  ["length", "text", "int", "0"],
  ["length", "bytea", "int", "0"],
  ["lower", "text", "text", "$1"],
  ["format", "text, text", "text", "$1"],
  ["cardinality", "bigint[]", "int", "0"],
  ["json_build_object", "text, text", "json", "'{}'::pg_catalog.json"],
  ["pg_advisory_xact_lock", "bigint", "void", "null"],
  ["pg_current_xact_id", "", "xid8", "pg_catalog.pg_current_xact_id()"],
  ["gen_random_uuid", "", "uuid", "pg_catalog.gen_random_uuid()"],
] as const;

const operatorTraps = [
  ["=", "uuid", "uuid"],
  ["=", "bigint", "bigint"],
  ["=", "bigint", "int"],
  ["=", "text", "text"],
  ["<=", "timestamptz", "timestamptz"],
  ["<", "bigint", "bigint"],
  [">", "bigint", "int"],
  ["-", "timestamptz", "timestamptz"],
  ["+", "bigint", "bigint"],
  ["->>", "jsonb", "text"],
  ["||", "text", "text"],
] as const;

/** Makes every trap that there is; how many could be made. */
async function setTraps(client: Client): Promise<number> {
  let count = 0;
  const attempt = async (statement: string) => {
    try {
      await client.query(statement);
      count += 1;
    } catch (error) {
      // Some are impossible, by the name or by the kind; none of them may be a surprise.
      const { code } = error as { code: string };
      if (!["42704", "42P16", "42809", "0A000", "42P07", "42710"].includes(code)) throw error;
    }
  };
  await client.query("create temp table starts_the_schema ()");
  const spies = [
    "create function pg_temp.spy(what pg_catalog.text) returns pg_catalog.bool language plpgsql " +
      "as $$ begin raise warning 'spy ran as %: %', current_user, what; return true; end $$",
  ];
  for (const spy of spies) await client.query(spy);
  for (const [name, parameters, result, body] of functionTraps) {
    await attempt(
      `create function pg_temp.${name}(${parameters}) returns ${result} language plpgsql as $$
       begin perform pg_temp.spy('function ${name}'); return ${body}; end $$`.replace(
        result === "void" ? `return ${body};` : "\0",
        "",
      ),
    );
  }
  for (const [index, [name, left, right]] of operatorTraps.entries()) {
    const result = /^[=<>]/.test(name) ? "bool" : right === "timestamptz" ? "interval" : left;
    await attempt(
      `create function pg_temp.operator_${index}(${left}, ${right}) returns ${result}
       language plpgsql as $$ begin perform pg_temp.spy('operator ${name}'); return null; end $$`,
    );
    await attempt(
      `create operator pg_temp.${name} (
         leftarg = ${left}, rightarg = ${right}, function = pg_temp.operator_${index})`,
    );
  }
  await attempt("create type pg_temp.forged as (value pg_catalog.text)");
  await attempt(
    `create function pg_temp.to_uuid(pg_temp.forged) returns pg_catalog.uuid language plpgsql
     as $$ begin perform pg_temp.spy('cast'); return null; end $$`,
  );
  await attempt(
    "create cast (pg_temp.forged as pg_catalog.uuid) " +
      "with function pg_temp.to_uuid(pg_temp.forged) as implicit",
  );
  const { rows } = await client.query(
    `select distinct c.relname as name
     from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'S')
       and (n.nspname = 'pg_catalog' and c.relname ~ '^pg_(class|roles|type|proc|namespace|locks'
              '|settings|database|stat_activity|attribute|constraint|authid|inherits|index)$'
            or pg_catalog.pg_get_userbyid(n.nspowner) = 'exchange_owner')`,
  );
  for (const { name } of rows) {
    await attempt(`create temp view "${name}" as select pg_temp.spy('view ${name}') as trap`);
  }
  // Last, since a domain stands before the types that the statements above name.
  for (const name of typeNames) {
    await attempt(
      `create domain pg_temp."${name}" as pg_catalog."${name}" check (pg_temp.spy('domain ${name}'))`,
    );
  }
  await client.query("set search_path = pg_temp, public, pg_catalog");
  return count;
}

/** Every function that the login may call, each called with nulls and with what is there. */
async function callEverything(client: Client, schema: string): Promise<number> {
  const { rows } = await client.query(
    `select n.nspname, p.proname,
       (select pg_catalog.array_agg(pg_catalog.format_type(a.type, null) order by a.place)
        from pg_catalog.unnest(p.proargtypes) with ordinality as a (type, place)) as types
     from pg_catalog.pg_proc as p join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
     where n.nspname in ($1, 'ledger', 'leaderboard')
       and pg_catalog.has_schema_privilege(n.oid, 'usage')
       and pg_catalog.has_function_privilege(p.oid, 'execute')`,
    [schema],
  );
  for (const { nspname, proname, types } of rows) {
    const plausible: Record<string, string> = {
      uuid: `'${trader}'`,
      bigint: "1",
      integer: "1",
      text: "'all'",
      boolean: "false",
      interval: "'1 millisecond'",
      jsonb: `'[{"userId":"${trader}","side":"yes","price":1,"quantity":1}]'`,
      "uuid[]": `'{${trader}}'`,
      bytea: "'x'",
      "timestamp with time zone": "'2030-01-01'",
    };
    // The names of types are qualified by PostgreSQL where a trap stands before them.
    const bare = ((types ?? []) as string[]).map((type) => type.replace(/^pg_catalog\.|"/g, ""));
    for (const values of [bare.map(() => "null"), bare.map((type) => plausible[type] ?? "null")]) {
      // Refusals are no matter here.
      await client
        .query(`select * from ${nspname}.${proname}(${values.join(", ")})`)
        .catch(() => undefined);
    }
  }
  return rows.length;
}

/** What each role may know, asked without any name that a trap could stand before. */
const questions: Record<string, [text: string, values: () => unknown[]][]> = {
  api: [
    ["select api.get_account(user_id => $1)::pg_catalog.text as answer", () => [trader]],
    ["select api.get_portfolio(user_id => $1)::pg_catalog.text as answer", () => [trader]],
    ["select api.list_orders(user_id => $1)::pg_catalog.text as answer", () => [trader]],
    ["select (api.get_market_snapshot(market_id => $1)).body as answer", () => [market]],
  ],
  jobs: [["select release_in_ms, expire_in_ms, close_in_ms from jobs.next_work()", () => []]],
  admin: [
    ["select admin.set_trading_pause(false)", () => []],
    ["select name from admin.list_api_keys(user_id => $1)", () => [trader]],
    ["select object from ledger.verify()", () => []],
    ["select title, status::pg_catalog.text from admin.markets", () => []],
    ["select quantity from admin.positions order by 1", () => []],
  ],
  analytics: [
    ["select title from analytics.markets", () => []],
    ["select quantity from analytics.positions order by 1", () => []],
    ["select quantity from analytics.trades", () => []],
  ],
};

async function answersOf(client: Client, schema: string): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const [text, values] of questions[schema]!) {
    answers.push((await client.query(text, values())).rows);
  }
  return answers;
}

async function withLogin(role: string, work: (login: Login) => Promise<void>): Promise<void> {
  const { pool, connectionString } = exchange.database;
  const login = await makeLogin(pool, connectionString, [role]);
  try {
    await work(login);
  } finally {
    await login.drop();
  }
}

async function onDatabase(statement: string): Promise<void> {
  await exchange.database.pool.query(
    `do $$ begin execute pg_catalog.format('${statement}', pg_catalog.current_database()); end $$`,
  );
}

for (const [role, schema] of roles) {
  test.serial(
    `${role} runs no function of its own as the owner by temporary objects`,
    async (t) => {
      t.timeout(60_000);
      await onDatabase("grant temporary on database %I to public");
      await withLogin(role, async (login) => {
        const clean = await login.connect();
        const expected = await answersOf(clean, schema);
        const ranAs: string[] = [];
        const client = await login.connect((message) => {
          const user = /^spy ran as (\w+): (.*)$/.exec(message);
          if (user) ranAs.push(user[1] === login.name ? "itself" : `${user[1]!} by ${user[2]!}`);
        });
        t.true((await setTraps(client)) > 60, "traps are set");
        // The traps work: used by their owner, they are stepped into.
        await client.query("select 'x'::pg_temp.text, pg_catalog.count(*) from pg_temp.pg_class");
        t.true(ranAs.includes("itself"));
        ranAs.length = 0;
        t.deepEqual(await answersOf(client, schema), expected);
        t.true((await callEverything(client, schema)) > 3 || schema === "jobs");
        t.deepEqual([...new Set(ranAs.filter((user) => user !== "itself"))], []);
        // Nor by asking for it.
        for (const statement of [
          ...["set role exchange_owner", "set session authorization exchange_owner"],
          ...["create schema mine", "create table public.mine ()"],
          ...[`create function ${schema}.mine() returns pg_catalog.int4 language sql return 1`],
          ...["create event trigger mine on ddl_command_start execute function pg_temp.spy()"],
          ...[
            "alter function core.now() owner to current_user",
            "grant exchange_owner to current_user",
          ],
        ]) {
          await t.throwsAsync(client.query(statement), undefined, statement);
        }
      });
    },
  );

  test.serial(`${role} makes no temporary object once PUBLIC has no TEMPORARY`, async (t) => {
    await onDatabase("revoke temporary on database %I from public");
    await withLogin(role, async (login) => {
      const client = await login.connect();
      for (const statement of [
        "create temp table mine ()",
        "create domain pg_temp.text as pg_catalog.text",
        "create function pg_temp.mine() returns pg_catalog.int4 language sql return 1",
        "create temp view mine as select 1",
      ]) {
        await t.throwsAsync(client.query(statement), { code: DENIED }, statement);
      }
      await t.notThrowsAsync(answersOf(client, schema));
    });
  });
}

test.serial("the attack finds a function that searches pg_temp first", async (t) => {
  await onDatabase("grant temporary on database %I to public");
  const { pool } = exchange.database;
  await pool.query(`
    set role exchange_owner;
    create function api.weak() returns int language plpgsql security definer set search_path = ''
    as $$ declare v_text text := 'x'; begin return pg_catalog.length(v_text); end $$;
    grant execute on function api.weak() to exchange_api;
    reset role`);
  try {
    await withLogin("exchange_api", async (login) => {
      const heard: string[] = [];
      const client = await login.connect((message) => heard.push(message));
      await setTraps(client);
      heard.length = 0;
      await client.query("select api.weak()");
      t.deepEqual(heard, ["spy ran as exchange_owner: domain text"]);
    });
  } finally {
    await pool.query("drop function api.weak()");
  }
});

test.serial(
  "no role makes anything in another tool's schema, where nothing lends rights",
  async (t) => {
    const { pool, connectionString } = exchange.database;
    const client = await pool.connect();
    try {
      await migrateQueue(client, connectionString);
    } finally {
      client.release(true);
    }
    const { rows: makers } = await pool.query(
      `select r.rolname || ' ' || n.nspname as name
     from pg_namespace as n cross join pg_roles as r
     where r.rolname like 'exchange\\_%' and r.rolname <> 'exchange_owner'
       and has_schema_privilege(r.oid, n.oid, 'create')`,
    );
    t.deepEqual(makers, []);
    const { rows: lenders } = await pool.query(
      `select p.oid::regprocedure::text as name from pg_proc as p
     where p.prosecdef and p.pronamespace in (
       select n.oid from pg_namespace as n where n.nspname like 'graphile%')`,
    );
    t.deepEqual(lenders, []);
    const { rows: held } = await pool.query(
      `select distinct x.grantee::regrole::text as role, x.privilege_type as privilege
     from pg_class as c
     cross join aclexplode(c.relacl) as x
     where c.relnamespace = 'graphile_worker'::regnamespace
       and x.grantee <> c.relowner
     order by 1, 2`,
    );
    t.deepEqual(
      held.map(({ role, privilege }) => `${role} ${privilege}`),
      ["DELETE", "INSERT", "SELECT", "UPDATE", "USAGE"].map((name) => `exchange_worker ${name}`),
    );
  },
);
