import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { pino } from "pino";
import { asServerPools } from "../../src/database/server_pools.ts";
import { prepareDemo } from "../../src/local/demo.ts";
import type { Demo } from "../../src/local/demo.ts";
import { serve } from "../../src/server/start_server.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { callService } from "../helpers/http/test_service.ts";

const logger = pino({ level: "silent" });

interface World {
  database: OwnDatabase;
  keyFile: string;
  prepare: () => Promise<Demo | undefined>;
}

async function withWorld(work: (world: World) => Promise<void>): Promise<void> {
  const database = await createDatabase();
  const directory = await mkdtemp(join(tmpdir(), "pgmarkets-demo-"));
  const keyFile = join(directory, "data", "demo.json");
  try {
    const prepare = () => prepareDemo(database.connectionString, { isEmbedded: false, keyFile });
    await work({ database, keyFile, prepare });
  } finally {
    await database.drop();
    await rm(directory, { recursive: true });
  }
}

async function withService(database: OwnDatabase, work: (url: string) => Promise<void>) {
  const config = { host: "127.0.0.1", port: 0, trustProxy: false };
  const service = await serve({
    pools: asServerPools(database.connectAs("exchange_api")),
    config,
    logger,
  });
  try {
    await work(service.url);
  } finally {
    await service.close();
  }
}

/** The order of the line that npm start prints. */
function trade(url: string, { apiKey: key, marketId }: Demo) {
  const body = { marketId, side: "yes", price: null, quantity: 10 };
  return callService(url, "POST", "/api/v1/orders", { key, body });
}

test("an empty database gets books with two sides, trades and a demo trader with a key", async (t) => {
  await withWorld(async ({ database, prepare }) => {
    const demo = await prepare();
    const { rows } = await database.pool.query(
      `select m.public_id as id, b.trade_count from catalog.markets as m
       join trading.market_state as b on b.market_id = m.id`,
    );
    t.true(rows.length >= 8);
    await withService(database, async (url) => {
      for (const { id, trade_count } of rows) {
        t.true(trade_count > 0);
        const { body } = await callService(url, "GET", `/api/v1/markets/${id}/orderbook`);
        t.true(body.bids.length >= 4);
        t.true(body.asks.length >= 4);
      }
      const me = await callService(url, "GET", "/api/v1/me", { key: demo!.apiKey });
      t.is(me.body.balance, 1_000_000);
      const answer = await trade(url, demo!);
      t.like(answer, { status: 201, body: { order: { status: "filled", filledQuantity: 10 } } });
    });
    t.deepEqual((await database.pool.query("select * from ledger.verify()")).rows, []);
  });
});

test("the key is remembered, for its owner only; a missing or spoiled one is made anew", async (t) => {
  await withWorld(async ({ database, keyFile, prepare }) => {
    const first = await prepare();
    t.is((await stat(keyFile)).mode & 0o777, 0o600);
    t.true((await readFile(keyFile, "utf8")).includes(first!.apiKey));
    t.deepEqual(await prepare(), first);

    await rm(keyFile);
    const second = await prepare();
    t.not(second!.apiKey, first!.apiKey);
    t.is(second!.marketId, first!.marketId);

    for (const spoiled of ["", "{}", '{"apiKey":"jk_1"}']) {
      await writeFile(keyFile, spoiled);
      const third = await prepare();
      await withService(database, async (url) => {
        const me = await callService(url, "GET", "/api/v1/me", { key: third!.apiKey });
        t.is(me.status, 200);
      });
      t.is((await stat(keyFile)).mode & 0o777, 0o600);
    }
  });
});

test("when all orders are filled, a later start places new ones", async (t) => {
  await withWorld(async ({ database, prepare }) => {
    const demo = await prepare();
    await withService(database, async (url) => {
      const { apiKey: key, marketId } = demo!;
      const body = { marketId, side: "yes", price: null, quantity: 10_000 };
      const all = await callService(url, "POST", "/api/v1/orders", { key, body });
      t.is(all.status, 201);
      t.is((await trade(url, demo!)).body.code, "INSUFFICIENT_LIQUIDITY");
      t.deepEqual(await prepare(), demo);
      t.is((await trade(url, demo!)).status, 201);
    });
  });
});

test("of processes that start at once one makes it", async (t) => {
  await withWorld(async ({ database, prepare }) => {
    const made = await Promise.all([prepare(), prepare(), prepare()]);
    t.truthy(made[0]);
    t.is(new Set(made.map((demo) => demo?.marketId)).size, 1);
    t.is((await database.pool.query("select from ledger.verify()")).rows.length, 0);
  });
});

test("a database with a catalogue of its own is left alone", async (t) => {
  await withWorld(async ({ database, prepare }) => {
    const operators = database.connectAs("exchange_operator");
    await operators.query("select admin.create_category(slug => 'own', name => 'Own')");
    t.is(await prepare(), undefined);
    const { rows } = await database.pool.query("select count(*)::int as n from identity.users");
    t.is(rows[0].n, 0);
  });
});
