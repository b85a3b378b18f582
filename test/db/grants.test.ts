import test from "ava";
import type { DatabaseRole } from "../../src/database/pools.ts";
import { testDatabase } from "../helpers/database/test_database.ts";

/** Only the owner uses tables, and each role calls only its own functions. */

const database = testDatabase(test);

const schemas = `
  select n.oid, n.nspname from pg_namespace as n
  where pg_get_userbyid(n.nspowner) = 'exchange_owner'`;

async function names(query: string, values: unknown[] = []): Promise<string[]> {
  const { rows } = await database.pool.query(query, values);
  return rows.map((row) => row.name);
}

const tables = () =>
  names(`
    select c.oid::regclass::text as name from pg_class as c
    join (${schemas}) as n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') order by 1`);

const views = () =>
  names(`
    select c.oid::regclass::text as name from pg_class as c
    join (${schemas}) as n on n.oid = c.relnamespace
    where c.relkind = 'v' order by 1`);

const sequences = () =>
  names(`
    select c.oid::regclass::text as name from pg_class as c
    join (${schemas}) as n on n.oid = c.relnamespace
    where c.relkind = 'S' order by 1`);

/** Functions that a role can reach: schema and function both allow it. */
const callable = (role: DatabaseRole) =>
  names(
    `select p.oid::regprocedure::text as name from pg_proc as p
     join (${schemas}) as n on n.oid = p.pronamespace
     where has_schema_privilege($1, n.oid, 'usage') and has_function_privilege($1, p.oid, 'execute')
     order by 1`,
    [role],
  );

const functionsOf = (schema: string) =>
  names(
    `select p.oid::regprocedure::text as name from pg_proc as p
     join pg_namespace as n on n.oid = p.pronamespace
     where n.nspname = $1 order by 1`,
    [schema],
  );

const DENIED = "42501";

for (const role of ["exchange_api", "exchange_operator", "exchange_worker"] as const) {
  test(`${role} can read and change no table, each of them tried, but for views of its own`, async (t) => {
    const allViews = await views();
    // A call locks this one, so that an installation waits for calls under way.
    const readable = role === "exchange_operator" ? [] : ["installer.installations"];
    const ownViews = allViews.filter((view) => view.startsWith("admin."));
    const all = (await tables()).filter(
      (table) => role !== "exchange_operator" || !ownViews.includes(table),
    );
    t.true(all.length >= 20, "the tables are seen");
    const pool = database.connectAs(role, { max: 1 });
    for (const table of all) {
      for (const statement of [
        ...(readable.includes(table) ? [] : [`select from ${table}`]),
        // The views that show several tables accept no rows.
        ...(!allViews.includes(table)
          ? [`insert into ${table} default values`, `delete from ${table}`, `truncate ${table}`]
          : []),
      ]) {
        await t.throwsAsync(pool.query(statement), { code: DENIED }, `${role}: ${statement}`);
      }
    }
    for (const sequence of await sequences()) {
      await t.throwsAsync(pool.query(`select nextval('${sequence}')`), { code: DENIED });
    }
  });
}

test("roles have no privilege on tables or columns but one; operators read the views of admin", async (t) => {
  const privileged = await names(`
    select c.oid::regclass || ' ' || pg_get_userbyid(x.grantee) || ' ' || x.privilege_type as name
    from pg_class as c
    join (${schemas}) as n on n.oid = c.relnamespace
    cross join lateral (
      select c.relacl as acl
      union all
      select a.attacl from pg_attribute as a where a.attrelid = c.oid
    ) as of_table_or_column
    cross join aclexplode(acl) as x
    where pg_get_userbyid(x.grantee) <> 'exchange_owner' and n.nspname <> 'analytics'`);
  const viewsOfOperators = (await views()).filter((view) => view.startsWith("admin."));
  t.deepEqual(privileged.sort(), [
    ...viewsOfOperators.map((view) => `${view} exchange_operator SELECT`),
    "installer.installations exchange_api SELECT",
    "installer.installations exchange_worker SELECT",
  ]);
});

test("exchange_api calls the functions of api, all of them, and no others", async (t) => {
  t.deepEqual(await callable("exchange_api"), await functionsOf("api"));
});

test("exchange_worker calls the functions of jobs, all of them, and no others", async (t) => {
  t.deepEqual(await callable("exchange_worker"), await functionsOf("jobs"));
});

test("exchange_analyst calls the functions of analytics, all of them, and no others", async (t) => {
  t.deepEqual(await callable("exchange_analyst"), await functionsOf("analytics"));
});

test("exchange_analyst reads the views of analytics, all of them, and nothing else", async (t) => {
  const pool = database.connectAs("exchange_analyst", { max: 1 });
  for (const table of await tables()) {
    if (!table.startsWith("analytics.")) {
      await t.throwsAsync(pool.query(`select from ${table}`), { code: DENIED }, table);
      continue;
    }
    await t.notThrowsAsync(pool.query(`select * from ${table} limit 1`), table);
    const { rows } = await pool.query(
      "select has_table_privilege($1, 'insert, update, delete, truncate, trigger') as writable",
      [table],
    );
    t.false(rows[0].writable, table);
  }
  await t.throwsAsync(pool.query("select core.now()"), { code: DENIED });
  await t.throwsAsync(pool.query("select trading.fee_cents(1, 1)"), { code: DENIED });
});

/** How a view refuses what could not be done to it by anyone. */
const impossible = ["55000", "0A000", "42809", "428C9"];

test("exchange_analyst writes to no view, each of them tried, read-only or not", async (t) => {
  const pool = database.connectAs("exchange_analyst", { max: 1 });
  await pool.query("set default_transaction_read_only = off");
  const all = await views();
  t.true(all.length >= 30, "the views are seen");
  for (const view of all) {
    const { rows } = await database.pool.query(
      `select quote_ident(attname) as name from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
      [view],
    );
    for (const statement of [
      `insert into ${view} default values`,
      ...rows.map(({ name }) => `update ${view} set ${name} = default`),
      `delete from ${view}`,
      `truncate ${view}`,
    ]) {
      for (const begin of ["", "begin; set transaction read write; "]) {
        const error: any = await t.throwsAsync(pool.query(begin + statement), undefined, statement);
        t.true([DENIED, ...impossible].includes(error.code), `${statement}: ${error}`);
        await pool.query("rollback");
      }
    }
  }
});

test("what analysts read has no e-mail and no secret", async (t) => {
  const columns = await names(`
    select c.oid::regclass || '.' || attname as name
    from pg_attribute join pg_class as c on c.oid = attrelid
    where c.relnamespace = 'analytics'::regnamespace and attname ~ 'email|hash|secret|token'`);
  t.deepEqual(columns, []);
});

/** What operators call to see whether everything is as it was. */
const proofs = [
  "leaderboard.verify()",
  "ledger.compare_head(bigint,text)",
  "ledger.export_blocks(bigint,bigint)",
  "ledger.unsealed_rows()",
  "ledger.verify(boolean)",
];

test("exchange_operator calls the functions of admin but for private ones, and the proofs", async (t) => {
  const inner = await names(
    `select p.oid::regprocedure::text as name from pg_proc as p
     where p.pronamespace = 'admin'::regnamespace
       and obj_description(p.oid, 'pg_proc') ~ '(Private to the schema|Not for operators)[.]' order by 1`,
  );
  t.deepEqual(inner, [
    ...["admin.approver_role(text)", "admin.audit(text,jsonb)"],
    "admin.audit_access(text,bigint,text)",
    ...["admin.audit_closings(jsonb,uuid)", "admin.basis(text,jsonb)"],
    ...["admin.carry_out(text,jsonb)", "admin.check_approval(text,numeric)"],
    "admin.check_call_cap(ledger.journal_kind,numeric)",
    ...["admin.check_erasable(identity.users)", "admin.check_role(text)"],
    "admin.count_cash(ledger.journal_kind,numeric)",
    ...["admin.find_proposal(uuid)", "admin.fire_due_switches()", "admin.lock_proposal(uuid)"],
    "admin.move_cash(text,uuid,ledger.journal_kind,bigint,text,text)",
    "admin.only_user_of(jsonb)",
    "admin.personal_part(text,jsonb)",
    ...["admin.plain_part(text,jsonb)", "admin.process_due_markets()", "admin.rehearse(boolean)"],
    ...["admin.rehearse_orders(uuid,uuid,jsonb[])", "admin.report_to_user(text,bigint,json)"],
    ...["admin.verify_personal_arguments()", "admin.verify_proposals()"],
  ]);
  const operators = (await functionsOf("admin")).filter((name) => !inner.includes(name));
  t.deepEqual(await callable("exchange_operator"), [...operators, ...proofs].sort());
});

test("an operator reads the views of admin", async (t) => {
  const pool = database.connectAs("exchange_operator", { max: 1 });
  for (const view of await views()) {
    if (view.startsWith("admin.")) await t.notThrowsAsync(pool.query(`table ${view}`), view);
  }
  await t.throwsAsync(pool.query("select analytics.now()"), { code: DENIED });
});

test("an operator sees what ledger.verify() finds", async (t) => {
  const { rows } = await database
    .connectAs("exchange_operator")
    .query("select name, object, expected, found from ledger.verify()");
  t.deepEqual(rows, []);
});

test("no role can create anything in the schemas of the exchange", async (t) => {
  const makers = await names(`
    select n.nspname || ' ' || r.rolname as name
    from (${schemas}) as n
    cross join pg_roles as r
    where r.rolname like 'exchange_%' and r.rolname <> 'exchange_owner'
      and has_schema_privilege(r.oid, n.oid, 'create')`);
  t.deepEqual(makers, []);
});

test("no role can log in or has an attribute that gives it more rights", async (t) => {
  const strong = await names(`
    select rolname as name from pg_roles
    where rolname like 'exchange_%'
      and (rolcanlogin or rolsuper or rolcreaterole or rolcreatedb or rolbypassrls)`);
  t.deepEqual(strong, []);
});

test("PUBLIC may execute no function and enter no schema", async (t) => {
  const open = await names(`
    select p.oid::regprocedure || ' ' || x.privilege_type as name
    from pg_proc as p
    join (${schemas}) as n on n.oid = p.pronamespace
    cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as x
    where x.grantee = 0
    union all
    select s.nspname || ' ' || x.privilege_type
    from pg_namespace as s
    join (${schemas}) as n on n.oid = s.oid
    cross join aclexplode(coalesce(s.nspacl, acldefault('n', s.nspowner))) as x
    where x.grantee = 0`);
  t.deepEqual(open, []);
});

test("a new function of the owner is closed to PUBLIC from its first moment", async (t) => {
  const open = await database.withRollback(async (client) => {
    await client.query("create function core.newcomer() returns int language sql return 1");
    const { rows } = await client.query(
      `select count(*) as count
       from pg_proc as p
       cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as x
       where p.oid = 'core.newcomer'::regproc and x.grantee = 0`,
    );
    return Number(rows[0].count);
  }, "exchange_owner");
  t.is(open, 0);
});

test("every function is the owner's, and what others may call finds no name in their schemas", async (t) => {
  const astray = await names(`
    select p.oid::regprocedure::text as name from pg_proc as p
    join (${schemas}) as n on n.oid = p.pronamespace
    where pg_get_userbyid(p.proowner) <> 'exchange_owner'
      or (
        p.prosqlbody is null
        and not coalesce(p.proconfig, '{}') && array['search_path=pg_catalog, pg_temp']
        and exists (
          select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as x
          where x.grantee <> p.proowner
        )
      )`);
  t.deepEqual(astray, []);
});

test("what callers may call runs with the owner's rights, and a trigger at the commit", async (t) => {
  const definers = await names(`
    select p.oid::regprocedure::text as name from pg_proc as p
    join (${schemas}) as n on n.oid = p.pronamespace
    where p.prosecdef and n.nspname not in ('api', 'admin', 'jobs', 'analytics') order by 1`);
  t.deepEqual(definers, [...proofs, "trading.check_fee_moment()"]);
  const weak = await names(`
    select p.oid::regprocedure::text as name from pg_proc as p
    join (${schemas}) as n on n.oid = p.pronamespace
    where not p.prosecdef and n.nspname in ('api', 'jobs') order by 1`);
  t.deepEqual(weak, []);
});

test("no role is a member of another, and only the owner has rights on its tables", async (t) => {
  const memberships = await names(`
    select m.member::regrole || ' in ' || m.roleid::regrole as name
    from pg_auth_members as m
    where m.member::regrole::text like 'exchange_%' and m.roleid::regrole::text like 'exchange_%'`);
  t.deepEqual(memberships, []);
  const foreign = await names(`
    select c.oid::regclass::text as name from pg_class as c
    join (${schemas}) as n on n.oid = c.relnamespace
    where pg_get_userbyid(c.relowner) <> 'exchange_owner'`);
  t.deepEqual(foreign, []);
});
