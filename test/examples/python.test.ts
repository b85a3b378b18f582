import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import test from "ava";
import type { ExecutionContext } from "ava";
import { readText, rootDirectory } from "../helpers/repository.ts";
import { numberFrom } from "../helpers/random.ts";
import { until } from "../helpers/until.ts";
import { makeQueue, startTestWorker } from "../helpers/exchange/test_worker.ts";
import { openCuttingProxy } from "../helpers/http/cutting_proxy.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";
import { startExample, testWithPrograms, untilEqual } from "./run_example.ts";

/** examples/python/: the client by itself, and trading through connections that break. */

const service = testService(test);
const { call, makeMarket, makeTrader, makeTraders } = service;

const environment = {
  ...process.env,
  PYTHONPATH: join(rootDirectory, "examples/python"),
  PYTHONDONTWRITEBYTECODE: "1",
};
const LONGEST_MS = 180_000;
const LEAST_FILLS = 15;

testWithPrograms(["python3"], "the units of the client in Python", async (t) => {
  const names = ["-m", "unittest", "discover", "-s", "test/examples", "-p", "*_test.py"];
  const child = spawn("python3", names, { cwd: rootDirectory, env: environment });
  let output = "";
  child.stderr.on("data", (chunk) => (output += String(chunk)));
  const code = await new Promise((resolve) => child.on("close", resolve));
  t.is(code, 0, output);
  const count = /^Ran (\d+) tests/m.exec(output)?.[1];
  const written = readText("test/examples/pgmarkets_test.py").match(/^ {4}def test_/gm);
  t.is(Number(count), written!.length);
});

testWithPrograms(["python3"], "the client in Python is written for Python 3.9", async (t) => {
  const program = `
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path).read(), feature_version=(3, 9))
print("parsed")`;
  const files = ["pgmarkets.py", "market_maker.py"].map((name) => `examples/python/${name}`);
  const { stdout } = spawnSync("python3", ["-c", program, ...files], { cwd: rootDirectory });
  t.is(String(stdout), "parsed\n");
});

testWithPrograms(["python3"], "the types of the client in Python are the document's", async (t) => {
  const program = `
import json, typing, pgmarkets
names = ["PlaceOrder", "Order", "OrderDetail", "OwnFill", "StatementEntry"]
print(json.dumps({name: list(typing.get_type_hints(getattr(pgmarkets, name))) for name in names}))`;
  const { stdout } = spawnSync("python3", ["-c", program], { env: environment });
  const { body: document } = await call("GET", "/openapi.json");
  const types = Object.entries<string[]>(JSON.parse(String(stdout)));
  t.is(types.length, 5);
  for (const [name, members] of types) {
    const { properties } = document.components.schemas[name];
    t.deepEqual(members.toSorted(), Object.keys(properties).toSorted(), name);
  }
});

test("the market maker in Python has fewer than 80 lines", (t) => {
  t.true(readText("examples/python/market_maker.py").trimEnd().split("\n").length < 80);
});

testWithPrograms(
  ["python3"],
  "in Python, through connections that break: books and fills are the exchange's",
  async (t) => {
    t.timeout(LONGEST_MS + 60_000);
    const marketId = await makeMarket();
    const makers = await makeTraders(2);
    const people = await makeTraders(2);
    const proxy = await openCuttingProxy(t, service.url);
    const environmentOf = ({ key }: Trader) => ({ BASE: proxy.url, KEY: key, MARKET: marketId });
    const examples = await Promise.all(
      makers.map((maker) => startExample(t, "In Python", environmentOf(maker))),
    );
    const traders = people.map((person, index) =>
      startTrader(t, { ...environmentOf(person), SEED: String(numberFrom(`trader ${index}`)) }),
    );
    for (const trader of traders) await trader.untilPrinted("trading");
    const isEnough = async () => {
      const counts = await Promise.all(makers.map(async (maker) => (await fillsOf(maker)).length));
      return (
        counts.every((count) => count > 0) && Object.values(proxy.cuts).every((cut) => cut > 5)
      );
    };
    await until("makers have traded, and connections were cut everywhere", isEnough, LONGEST_MS);

    for (const trader of traders) trader.write("stop");
    for (const trader of traders) await trader.untilPrinted("stopped");
    for (const [index, example] of examples.entries()) {
      await example.stop();
      t.deepEqual(await openOrdersOf(makers[index]!), [], example.output());
      t.notRegex(example.output(), /Traceback/);
      const held = await heldBy(makers[index]!);
      t.true(Math.abs((held.yes ?? 0) - (held.no ?? 0)) <= 100);
    }

    const { body: book, headers } = await call("GET", `/api/v1/markets/${marketId}/orderbook`);
    for (const [index, trader] of traders.entries()) {
      await sendMark(people[index]!);
      trader.write(headers.get("x-market-version")!);
      await compare(t, { trader: people[index]!, known: JSON.parse(await trader.last()), book });
    }
    const { rows } = await service.database.pool.query("select * from ledger.verify()");
    t.deepEqual(rows, []);
    t.log(`cut: ${JSON.stringify(proxy.cuts)}`);
  },
);

testWithPrograms(
  ["python3"],
  "the market maker in Python leaves a dead man's switch",
  async (t) => {
    const marketId = await makeMarket();
    const maker = await makeTrader();
    const example = await startExample(t, "In Python", {
      ...{ BASE: service.url, KEY: maker.key, MARKET: marketId },
    });
    const open = async () => (await openOrdersOf(maker)).map(({ side, price }) => [side, price]);
    const sorted = async () => (await open()).toSorted();
    await untilEqual(t, example, sorted, [
      ["no", 48],
      ["yes", 48],
    ]);
    example.kill();
    await example.ended;
    const { body: set } = await call("GET", "/api/v1/orders/dead-man", { key: maker.key });
    const { body: exchange } = await call("GET", "/api/v1/exchange");
    const leftMs = Date.parse(set.expiresAt) - Date.parse(exchange.time);
    t.true(leftMs <= 15_000, `it fires in ${leftMs} ms`);
    // As if that time was over.
    await service.database.pool.query(
      `update trading.dead_man_switches as s set expires_at = core.now()
     from trading.traders as u where u.user_id = s.user_id and u.public_id = $1`,
      [maker.userId],
    );
    await makeQueue(service.database);
    const worker = await startTestWorker(service.database);
    await untilEqual(t, example, open, []);
    await worker.close();
  },
);

testWithPrograms(["python3"], "the market maker in Python stops at an error", async (t) => {
  const marketId = await makeMarket();
  const example = await startExample(t, "In Python", {
    ...{ BASE: service.url, KEY: `jk_${"a".repeat(40)}`, MARKET: marketId },
  });
  t.is(await example.ended, 1);
  t.regex(example.output(), /ApiError: 401/);
});

interface Known {
  orderIds: string[];
  sets: { split: number; merge: number };
  events: { id: string; event: any }[];
  book: object;
  isBookRead: boolean;
  fillIds: string[];
}

interface Comparison {
  trader: Trader;
  known: Known;
  /** Of GET /orderbook. */
  book: object;
}

/** Compares what a program has learned with what the exchange has. */
async function compare(t: ExecutionContext, { trader, known, book }: Comparison): Promise<void> {
  t.deepEqual(known.book, book);
  t.true(known.isBookRead);

  const ids = known.events.map(({ id }) => Number(id));
  t.deepEqual(
    ids,
    [...new Set(ids)].toSorted((a, b) => a - b),
  );
  const told = known.events.filter(({ event }) => event.type === "fill").map(({ event }) => event);
  const fills = await fillsOf(trader);
  t.true(fills.length >= LEAST_FILLS);
  t.deepEqual(
    told,
    fills.toReversed().map((fill, index) => ({
      ...{ type: "fill", ...fill, orderStatus: told[index]?.orderStatus },
    })),
  );
  t.deepEqual(
    known.fillIds,
    fills.map(({ id }) => id),
  );

  const orders = await rowsOf(trader, "order-history");
  t.deepEqual(
    orders.map(({ id }) => id).toSorted(),
    known.orderIds.toSorted(),
    "every order was placed once",
  );
  const entries = await rowsOf(trader, "statement");
  for (const kind of ["split", "merge"] as const) {
    t.is(entries.filter((entry) => entry.kind === kind).length, known.sets[kind], kind);
  }
}

const fillsOf = async (trader: Trader) => await rowsOf(trader, "fills");

async function rowsOf({ key }: Trader, list: string): Promise<any[]> {
  const rows: any[] = [];
  for (let cursor = ""; ;) {
    const { body } = await call("GET", `/api/v1/me/${list}?limit=200${cursor}`, { key });
    rows.push(...body.data);
    if (body.nextCursor === null) return rows;
    cursor = `&cursor=${body.nextCursor}`;
  }
}

async function openOrdersOf({ key }: Trader): Promise<any[]> {
  return (await call("GET", "/api/v1/orders", { key })).body.data;
}

async function heldBy({ key }: Trader): Promise<Record<string, number>> {
  const { body } = await call("GET", "/api/v1/me/portfolio", { key });
  return Object.fromEntries(body.positions.map(({ side, quantity }: any) => [side, quantity]));
}

/** When this event has come, all earlier events of the user have come. */
async function sendMark({ userId }: Trader): Promise<void> {
  await service.database.pool.query(
    `insert into trading.outbox (channel, payload)
     values ('user_event', json_build_object('userId', $1::text, 'event', '{"type":"mark"}'::json))`,
    [userId],
  );
}

interface TraderProgram {
  write: (line: string) => void;
  untilPrinted: (line: string) => Promise<void>;
  /** What it prints last. */
  last: () => Promise<string>;
}

function startTrader(t: ExecutionContext, variables: Record<string, string>): TraderProgram {
  const path = join(rootDirectory, "test/examples/trader.py");
  const child = spawn("python3", [path], { env: { ...environment, ...variables } });
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (errors += String(chunk)));
  const ended = new Promise((resolve) => child.on("close", resolve));
  t.teardown(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    write: (line) => child.stdin.write(`${line}\n`),
    untilPrinted: async (line) => {
      await until(
        `the trader prints ${line}`,
        async () => {
          if (child.exitCode !== null || errors !== "") throw new Error(output + errors);
          return output.split("\n").includes(line);
        },
        LONGEST_MS,
      );
    },
    last: async () => {
      const code = await ended;
      if (code !== 0) throw new Error(output + errors);
      return output.trimEnd().split("\n").at(-1)!;
    },
  };
}
