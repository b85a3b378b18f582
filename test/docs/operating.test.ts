import { spawn } from "node:child_process";
import test from "ava";
import pg from "pg";
import {
  connectionStringFor,
  createDatabase,
  replaceDatabase,
} from "../helpers/database/test_database.ts";
import { compileCache, readText, rootDirectory } from "../helpers/repository.ts";
import { startTemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { readDocument } from "./document.ts";
import { runGraphqlDocument, withGraphql } from "./graphql_document.ts";
import { runSqlDocument } from "./sql_document.ts";

const pageOf = (name: string) => readDocument(`docs/operating/${name}.md`);
/** Those whose statements go on from each other. */
const course = ["markets", "money", "users", "staff", "monitoring", "upgrade", "running"];
const pages = ["install", "backup", "standbys", ...course].map(pageOf);
const functions = "docs/operating/functions.md";
/** Their logins belong to the cluster. */
const staffOfPage = ["clara", "david"];

test("the SQL and the GraphQL of docs/operating/ print what the pages say", async (t) => {
  const database = await createDatabase();
  const { pool } = database;
  try {
    for (const login of staffOfPage) {
      await pool.query(`create role ${login} login in role exchange_operator`);
    }
    const set = new Map<string, string>();
    for (const name of course) await runSqlDocument(t, pageOf(name), pool, set);
    const variables = Object.fromEntries(set);
    await withGraphql(database, "operator", async (baseUrl) => {
      const url = `${baseUrl}/admin/graphql`;
      await runGraphqlDocument(t, pageOf("staff"), { url, key: variables.key!, variables });
    });
  } finally {
    for (const login of staffOfPage) await pool.query(`drop role if exists ${login}`);
    await database.drop();
  }
});

test("a copy is quiet, and a restored database gets back what protected its users", async (t) => {
  const damaged = await createDatabase();
  const name = (await damaged.pool.query("select current_database() as name")).rows[0].name;
  const restoredName = `${name}_restored`;
  const call = async (url: string, text: string) => rowsFrom(url)(text);
  const maker = rowsFrom(damaged.connectionString);
  const restoredUrl = connectionStringFor(restoredName);
  const cluster = rowsFrom(connectionStringFor("postgres"));
  try {
    const users = [];
    for (const handle of ["ada", "bea"]) {
      const [{ user }] = await maker(
        `select admin.create_user('${handle}@example.org', '${handle}', '${handle}') as user`,
      );
      users.push(user);
      for (const made of ["create_api_key", "create_session"]) {
        const names = made === "create_api_key" ? ", 'k'" : "";
        await maker(`select admin.${made}('${user}'${names})`);
      }
      await maker(`select admin.set_loss_limits('${user}', 900, null, null)`);
      await maker(
        `insert into identity.passwords (user_id, password_hash, changed_at)
         select id, '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$ZGlnZXN0', now() - interval '1 day'
         from identity.users where public_id = '${user}'`,
      );
    }
    await maker(`select admin.deposit('${users[1]}', 10000, 'bank 1')`);
    await damaged.pool.end();
    await cluster(`create database ${restoredName} template ${name}`);
    const [{ moment }] = await maker("select now()::text as moment");
    const at = (text: string) => text.replace("'2030-01-01 14:02:30+00'", `'${moment}'`);

    // What Ada and an operator do after the moment.
    const [ada] = users;
    await maker(
      `select admin.self_exclude('${ada}'); select admin.set_loss_limits('${ada}', 100, null, null);
       select identity.revoke_api_keys(array(
         select k.id from identity.api_keys as k join identity.users as u on u.id = k.user_id
         where u.public_id = '${ada}'));
       update identity.passwords set changed_at = now()
       where user_id = (select id from identity.users where public_id = '${ada}')`,
    );
    const [calls] = blocks("sql", "damaged calls");
    t.deepEqual(
      (await maker(at(calls!).replace(" - interval '1 minute'", ""))).map(({ action }) => action),
      ["self_exclude", "set_loss_limits"],
    );
    // Nothing of who is not in the restored database.
    await maker("select admin.self_exclude(admin.create_user('cy@example.org', 'cy', 'cy'))");
    const [statements] = blocks("sql", "damaged users");
    const again = (await maker(at(statements!))).map(({ format }) => format as string);
    // Ada's four, and the limits that Bea set within the minute before the moment.
    t.is(again.length, 5, again.join("\n"));
    for (const text of blocks("sql", "restored")) await call(restoredUrl, text);
    await call(restoredUrl, `set role exchange_operator; ${again.join("\n")}`);

    // What Bea won after the moment was paid to her: she owes it, and the bank agrees.
    const [owed] = blocks("sql", "restored owed");
    await call(restoredUrl, owed!.replaceAll("01900000-0000-7000-8000-000000000000", users[1]));
    t.deepEqual(
      await call(
        restoredUrl,
        "select amount_cents::int as cents, reference from admin.receivables",
      ),
      [{ cents: 40_000, reference: "missing for payout 9" }],
    );
    const bank = JSON.stringify([{ reference: "payout 9", amount_cents: -50_000 }]);
    t.deepEqual(
      await call(
        restoredUrl,
        `select d.* from admin.receivables as r
         cross join admin.reconcile((r.since at time zone 'UTC')::date, '${bank}') as d
         where d.reference <> 'bank 1'`,
      ),
      [],
    );
    const state = `
      select u.handle, u.excluded_until = 'infinity' as is_excluded, u.day_limit_cents as day,
        (select count(*) from admin.api_keys as k where k.user_key = u.user_key and k.revoked_at is null)
          as keys,
        (select count(*) from identity.passwords as p where p.user_id = u.user_key) as passwords,
        (select count(*) from identity.sessions as s where s.user_id = u.user_key) as sessions,
        (select is_paused from admin.trading_pause) as is_paused
      from admin.users as u order by u.handle`;
    t.deepEqual(
      (await call(restoredUrl, state)).map((row) => Object.values(row).map(String)),
      [
        ["ada", "true", "100", "0", "0", "0", "true"],
        ["bea", "null", "900", "1", "1", "0", "true"],
      ],
    );

    for (const text of blocks("sql", "copy")) await call(restoredUrl, text);
    const ways = `
      select (select count(*)::int from identity.api_keys where revoked_at is null)
        + (select count(*)::int from identity.links) + (select count(*)::int from identity.sessions)
        + (select count(*)::int from identity.mails where due_at is not null) as ways`;
    t.deepEqual(await call(restoredUrl, ways), [{ ways: 0 }]);
    t.deepEqual(await call(restoredUrl, "select * from ledger.verify()"), []);
  } finally {
    await cluster(`drop database if exists ${restoredName} with (force)`);
    await damaged.drop();
  }
});

test("installed as the page says, without a superuser, it migrates, serves and stops", async (t) => {
  await withEmptyCluster(async ({ superuser, socketDirectory }) => {
    await superuser(blocks("sql", "dba"));
    const [migrate, server, worker, alone, everything] = commands(socketDirectory);

    const first = run(migrate!);
    t.is(await first.exited, 0, first.output());
    t.regex(first.output(), /^migrated: 000001\.sql/m);
    const second = run(migrate!);
    await second.exited;
    t.regex(second.output(), /^nothing to migrate$/m);

    for (const command of [server!, alone!, everything!]) {
      const serving = run({ ...command, environment: { ...command.environment, PORT: "0" } });
      const url = await serving.listening;
      t.truthy(url, serving.output());
      const market = "/api/v1/markets/01900000-0000-7000-8000-000000000000";
      t.is((await fetch(url! + market)).status, 404);
      serving.end();
      t.is(await serving.exited, 0);
    }

    const working = run(worker!);
    await working.ready;
    working.end();
    t.is(await working.exited, 0);
    // There is no mail server, the database is not locked down, and has no other open privileges.
    const lines = working.output().trim().split("\n");
    const parts = ["SMTP_URL is not set", "migrate/lock_down.sql", "working", '"closing"'];
    t.is(lines.length, parts.length, working.output());
    for (const part of parts) {
      t.is(lines.filter((line) => line.includes(part)).length, 1, part);
    }

    const { API_DATABASE_URL: web = "" } = server!.environment;
    const asWeb = rowsFrom(web);
    await t.throwsAsync(asWeb("select from trading.orders"), { code: "42501" });
    await t.throwsAsync(asWeb("select admin.set_trading_pause(true)"), { code: "42501" });
    const { WORKER_DATABASE_URL: jobs = "" } = worker!.environment;
    const asWorker = rowsFrom(jobs);
    await t.throwsAsync(asWorker("select from trading.orders"), { code: "42501" });
    await t.throwsAsync(asWorker("select api.relay_outbox()"), { code: "42501" });
    const asOperator = rowsFrom(web.replace("//markets_web:", "//anna:"));
    t.deepEqual(await asOperator("select * from ledger.verify()"), []);

    await superuser([
      "create database copy;",
      "create role tester login in role exchange_operator;",
    ]);
    const asTester = rowsFrom(web.replace("//markets_web:", "//tester:"));
    await asTester("select");
    await superuser(blocks("sql", "both"));
    await t.throwsAsync(asTester("select"), { code: "42501" });
    await asOperator("select");
  });
});

test("a login with CREATEROLE may have the migration make the roles", async (t) => {
  await withEmptyCluster(async ({ superuser, socketDirectory }) => {
    await superuser(blocks("sql", "createrole"));
    const migrates = async (): Promise<string> => {
      const migrate = run(commands(socketDirectory)[0]!);
      t.is(await migrate.exited, 0, migrate.output());
      return migrate.output();
    };
    t.regex(await migrates(), /^migrated: /m);
    const made = /^create (?:database|role (?:exchange_\w+|markets_deploy)) |^grant create /;
    const others = statementsOf(blocks("sql", "dba")).filter((line) => !made.test(line));
    await superuser(others.map((statement) => `${statement};`));
    t.regex(await migrates(), /^nothing to migrate$/m);
  });
});

test("the page lists the environment that the configuration reads", (t) => {
  const schema = /z\.object\(\{(.*?)^\}\);/ms.exec(readText("src/config.ts"))?.[1] ?? "";
  const read = [...schema.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name);
  const listed = [...section("Environment").matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name);
  t.true(read.length > 5);
  t.deepEqual(listed, read);
});

test("the page lists the operator's functions with their arguments", async (t) => {
  const database = await createDatabase();
  try {
    const { rows } = await database.pool.query(`
      select 'admin.' || proname || '(' || (
        select coalesce(string_agg(quote_ident(argument), ', ' order by place), '')
        from unnest(proargnames[1:pronargs]) with ordinality as a (argument, place)
      ) || ')' as name
      from pg_proc
      where pronamespace = 'admin'::regnamespace
        and has_function_privilege('exchange_operator', oid, 'execute')`);
    const listed = [...readText(functions).matchAll(/^\| `(admin\.\w+\(.*?\))`/gm)];
    t.deepEqual(listed.map(([, name]) => name).sort(), rows.map(({ name }) => name).sort());
  } finally {
    await database.drop();
  }
});

test("the page lists the operator's views", async (t) => {
  const database = await createDatabase();
  try {
    const { rows } = await database.pool.query(
      `select 'admin.' || relname as name from pg_class
       where relnamespace = 'admin'::regnamespace
         and has_table_privilege('exchange_operator', oid, 'select')`,
    );
    const cells = [...readText(functions).matchAll(/^\| ((?:`admin\.\w+`(?:, )?)+) \|/gm)];
    const listed = cells.flatMap(([, cell]) => cell!.replaceAll("`", "").split(", "));
    t.deepEqual(listed.sort(), rows.map(({ name }) => name).sort());
  } finally {
    await database.drop();
  }
});

function section(heading: string): string {
  return (
    readText("docs/operating/install.md")
      .split(/^## /m)
      .find((part) => part.startsWith(heading)) ?? ""
  );
}

function blocks(language: string, info: string): string[] {
  return pages
    .flatMap((page) => page.blocks)
    .filter((block) => block.language === language && block.info === info)
    .map(({ text }) => text);
}

function statementsOf(scripts: string[]): string[] {
  const statements = scripts.join("\n").split(/;$/m);
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== "");
}

interface Command {
  file: string;
  environment: Record<string, string>;
}

/** The page's `NAME=value npm run script` and the like, on the cluster whose socket is there. */
function commands(socketDirectory: string): Command[] {
  const { scripts } = JSON.parse(readText("package.json"));
  return blocks("sh", "")
    .join("\n")
    .split("\n")
    .map((line) => {
      const [, settings = "", name = ""] = /^(.*) npm (?:run )?(\S+)$/.exec(line) ?? [];
      const here = settings.replaceAll(
        "@db.example:5432/pgmarkets",
        `@/pgmarkets?host=${socketDirectory}`,
      );
      return {
        file: scripts[name].replace(/^(exec )?node /, ""),
        environment: Object.fromEntries(here.split(" ").map((word) => word.split(/=(.*)/s))),
      };
    });
}

function run({ file, environment }: Command) {
  const child = spawn(process.execPath, [file], {
    cwd: rootDirectory,
    env: { PATH: process.env.PATH, ...compileCache, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
  const ready = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk) => {
      if (/^working$/m.test(String(chunk))) resolve();
    });
    void exited.then(() => {
      resolve();
    });
  });
  const listening = new Promise<string | undefined>((resolve) => {
    child.stdout.on("data", (chunk) => {
      output += String(chunk);
      const url = /^listening on (\S+)$/m.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
    void exited.then(() => {
      resolve(undefined);
    });
  });
  child.stderr.on("data", (chunk) => (output += String(chunk)));
  return { output: () => output, exited, ready, listening, end: () => child.kill("SIGTERM") };
}

interface EmptyCluster {
  /** Runs statements that end their lines, one by one. */
  superuser: (scripts: string[]) => Promise<void>;
  version: number;
  socketDirectory: string;
}

async function withEmptyCluster(work: (cluster: EmptyCluster) => Promise<void>) {
  const programsDirectory = process.env.TEST_POSTGRES_BIN;
  const cluster = await startTemporaryCluster("install", {
    database: "postgres",
    settings: { fsync: "off", log_min_messages: "fatal" },
    ...(programsDirectory && { programsDirectory }),
  });
  const asSuperuser = rowsFrom(replaceDatabase(cluster.server.connectionString, "postgres"));
  try {
    const [row] = await asSuperuser("show server_version_num");
    await work({
      superuser: async (scripts) => {
        for (const statement of statementsOf(scripts)) await asSuperuser(statement);
      },
      version: Math.floor(Number(row.server_version_num) / 10_000),
      socketDirectory: cluster.server.socketDirectory,
    });
  } finally {
    await cluster.destroy();
  }
}

function rowsFrom(connectionString: string): (statement: string) => Promise<any[]> {
  return async (statement) => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  };
}
