import test from "ava";
import pg from "pg";
import { rowsScanned } from "../helpers/database/plans.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import type { Asked } from "./analytics_answer.ts";
import { market } from "./analytics_answers_of_markets.ts";
import { readFacts } from "./analytics_facts.ts";
import { playHistory } from "./analytics_history.ts";
import { readDocument } from "./document.ts";
import { runGraphqlDocument, withGraphql } from "./graphql_document.ts";
import { runHttpDocument } from "./http_document.ts";
import { runSqlDocument } from "./sql_document.ts";

const exchange = testExchange(test, { idsAscend: true });
const page = readDocument("docs/analytics.md");

test.serial("docs/analytics.md prints what it says, for an analyst", async (t) => {
  await playHistory(exchange);
  await runSqlDocument(t, page, exchange.database.connectAs("exchange_analyst"));
});

test.serial(
  "docs/analytics.md: its GraphQL answers as shown, with the key of an analyst",
  async (t) => {
    const { operate, database } = exchange;
    const key = await operate("create_staff_key", { name: "Ada", role: "analyst" });
    const { rows } = await database.pool.query(
      "select public_id as market from catalog.markets where title = 'A white winter?'",
    );
    await withGraphql(database, "analyst", async (baseUrl) => {
      const variables = { BASE: baseUrl, ANALYST_KEY: key };
      await runHttpDocument(t, page, { variables, letAMinutePass: () => Promise.resolve() });
      await runGraphqlDocument(t, page, { url: `${baseUrl}/graphql`, key, variables: rows[0] });
    });
  },
);

for (const question of [
  "Does a trade move the price?",
  "What did makers win or lose after a fill?",
]) {
  test.serial(`${question} The answer reads each trade once`, async (t) => {
    const { pool } = exchange.database;
    const [query] = page.blocks.filter(
      ({ language, heading }) => language === "sql" && heading === question,
    );
    const [{ count }] = (await pool.query("select count(*)::int from trading.trades")).rows;
    t.true(count > 200);
    t.is(await rowsScanned(pool, query!, "trades"), count);
  });
}

test.serial("what makers won or lost within an hour, also in the last one", async (t) => {
  const question = "What did makers win or lose after a fill?";
  const [query] = page.blocks.filter(({ heading }) => heading === question);
  const { pool } = exchange.database;
  const facts = await exchange.withRollback(readFacts);
  t.true(facts.fills.some(({ at }) => at > facts.now - 3_600_000));
  const { rows } = await pool.query({ text: query!.text, rowMode: "array" });
  const told = (row: unknown[]) => row.map(String).join(" ");
  t.deepEqual(
    rows.map(told).sort(),
    market[question]!(facts, {} as Asked)
      .map(told)
      .sort(),
  );
});

test.serial("each section of the cookbook has its query, of 20 at least", (t) => {
  const queries = page.blocks.filter(({ language, info }) => language === "sql" && info === "");
  t.true(queries.length >= 20);
  for (const query of queries) {
    t.is(page.outputsOf(query, "text").length, 1, `line ${query.line}`);
  }
});

test.serial(
  "a login as the page makes it can read, and can do no more than the page says",
  async (t) => {
    const [dba] = page.blocks.filter(({ info }) => info === "dba");
    const login = `ada_${process.pid}`;
    const { pool, connectionString } = exchange.database;
    for (const statement of dba!.text.split(/;$/m)) {
      if (statement.trim() !== "")
        await pool.query(statement.replace(/\brole ada\b/, `role ${login}`));
    }
    const client = new pg.Client({
      connectionString: connectionString.replace("//postgres@", `//${login}:change-me-5@`),
    });
    try {
      await client.connect();
      const { rows } = await client.query("select count(*) > 0 as seen from analytics.trades");
      t.deepEqual(rows, [{ seen: true }]);
      const settings = await client.query(
        "select current_setting('statement_timeout') as timeout, current_setting('transaction_read_only') as read_only",
      );
      t.deepEqual(settings.rows, [{ timeout: "1min", read_only: "on" }]);
      await t.throwsAsync(client.query("select * from trading.trades"), { code: "42501" });
      await t.throwsAsync(client.query("create temporary table mine (i int)"), { code: "25006" });
    } finally {
      await client.end();
      await pool.query(`drop role ${login}`);
    }
  },
);
