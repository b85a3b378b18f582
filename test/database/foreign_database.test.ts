import { randomBytes } from "node:crypto";
import test from "ava";
import pg from "pg";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { checkDatabase } from "../../src/database/readiness.ts";
import { checkSession, durabilityWarning } from "../../src/database/session_settings.ts";
import { connectionStringFor, testDatabase } from "../helpers/database/test_database.ts";
import { buildSchema } from "../helpers/database/schema.ts";

/** Databases with another encoding, collation or settings than ours. */

const database = testDatabase(test);

async function inNewDatabase(
  options: string,
  work: (client: pg.Client, url: string) => Promise<void>,
): Promise<void> {
  const name = `${process.env.TEST_DATABASE_PREFIX ?? ""}_foreign_${randomBytes(3).toString("hex")}`;
  const cluster = new pg.Client({ connectionString: connectionStringFor("postgres") });
  await cluster.connect();
  try {
    await cluster.query(`create database ${name} template template0 ${options}`);
    const url = connectionStringFor(name);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await work(client, url);
    } finally {
      await client.end();
    }
  } finally {
    await cluster.query(`drop database if exists ${name} with (force)`);
    await cluster.end();
  }
}

for (const encoding of ["SQL_ASCII", "LATIN1"]) {
  test(`encoding: ${encoding} is neither migrated nor served`, async (t) => {
    await inNewDatabase(`encoding '${encoding}' locale 'C'`, async (client, url) => {
      for (const refused of [migrateDatabase(url), checkDatabase(client)]) {
        const error: any = await t.throwsAsync(refused);
        t.is(error.reason, "encoding");
        t.regex(error.message, new RegExp(`is ${encoding}: pgmarkets needs UTF8`));
      }
      const { rows } = await client.query(
        "select nspname from pg_namespace where nspname in ('core', 'graphile_migrate')",
      );
      t.deepEqual(rows, []);
    });
  });
}

test("ALREADY_EXISTS: a Turkish collation makes no second user of another case", async (t) => {
  const options = "encoding 'UTF8' locale_provider icu icu_locale 'tr' locale 'C.UTF-8'";
  await inNewDatabase(options, async (client) => {
    const { rows } = await client.query("select lower('IAN_I') as lower");
    if (rows[0].lower === "ian_i") t.log("ICU doesn't know Turkish here");
    await buildSchema(client);
    const create = "select admin.create_user($1, $2, $3)";
    await client.query(create, ["IAN_I@X.EXAMPLE", "Ian", "IAN_I"]);
    for (const values of [
      ["other@x.example", "Ian", "ian_i"],
      ["ian_i@x.example", "Ian", "other"],
    ]) {
      const error: any = await t.throwsAsync(client.query(create, values));
      t.is(error.detail, "ALREADY_EXISTS");
    }
  });
});

test("session_settings: a server does not serve sessions whose settings a pooler dropped", async (t) => {
  const client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  try {
    await checkSession(client);
    await client.query("set default_transaction_isolation = 'repeatable read'");
    await client.query("set DateStyle = 'German'");
    const error: any = await t.throwsAsync(checkSession(client));
    t.is(error.reason, "session_settings");
    t.regex(error.message, /transaction_isolation is repeatable read, not read committed/);
    t.regex(error.message, /DateStyle is German, DMY, not ISO/);
  } finally {
    await client.end();
  }
});

test("settings under which acknowledged orders can be lost are reported", async (t) => {
  const client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  try {
    await client.query("set synchronous_commit = off");
    t.regex(
      (await durabilityWarning(client)) ?? "",
      /orders can be lost: .*synchronous_commit is off/,
    );
  } finally {
    await client.end();
  }
});
