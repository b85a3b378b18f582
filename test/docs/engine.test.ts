import test from "ava";
import type { ExecutionContext } from "ava";
import type { PoolClient } from "pg";
import { call } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import { createExchange } from "../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../helpers/exchange/test_exchange.ts";
import { buy, placeOrders } from "../helpers/exchange/orders.ts";
import { readText } from "../helpers/repository.ts";

const page = readText("docs/engine.md");

let exchange: Exchange;

test.before("make the exchange", async () => {
  exchange = await createExchange();
});
test.after.always("drop the exchange", async () => {
  await exchange.database.drop();
});

/** The rows of the table under a heading. */
function rowsUnder(heading: string): string[][] {
  const [, section = ""] = page.split(`\n${heading}\n`);
  const table = /^\|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(section.split(/\n#+ /)[0] ?? "")?.[1] ?? "";
  return table
    .trim()
    .split("\n")
    .map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

test("a function for callers that changes or locks rows says in its comment what it locks", async (t) => {
  const { rows } = await exchange.database.pool.query(`
    select format('%s.%s', n.nspname, proname) as name,
      obj_description(p.oid) ~ '\\mLocks:|\\mlocks?\\M' as says_so
    from pg_proc as p
    join pg_namespace as n on n.oid = pronamespace and nspname in ('api', 'admin', 'jobs')
    where provolatile = 'v'
      and prosrc ~* '\\m(update|delete)\\M|lock_'
      and (has_function_privilege('exchange_api', p.oid, 'execute')
        or has_function_privilege('exchange_operator', p.oid, 'execute')
        or has_function_privilege('exchange_worker', p.oid, 'execute'))`);
  t.true(rows.length > 30);
  t.deepEqual(
    rows.filter((row) => !row.says_so).map(({ name }) => name),
    [],
  );
});

test("the table of stages names every function that a call of api.place_orders goes through", async (t) => {
  const { rows } = await exchange.database.pool.query(`
    select distinct called[1] as name
    from pg_proc as p
    cross join lateral regexp_matches(prosrc, '(trading\\.\\w+)\\(', 'g') as called
    join pg_proc as q on format('%s.%s', q.pronamespace::regnamespace, q.proname) = called[1]
    where p.oid::regproc::text
      in ('trading.place_batch', 'trading.match_batch', 'trading.write_batch')`);
  const called = rows.map(({ name }) => name);
  const named = rowsUnder("## The stages of a call").flatMap(([, functions = ""]) =>
    [...functions.matchAll(/`([\w.]+)`/g)].map(([, name]) => name),
  );
  t.true(called.length > 15);
  const expanded = new Set(["trading.match_batch", "trading.write_batch"]);
  t.deepEqual(named.sort(), called.filter((name) => !expanded.has(name)).sort());
});

/** Who and where, for each line of the table. */
interface Scene {
  market: string;
  other: string;
  trader: string;
  maker: string;
  /** Has orders in both markets that the order can't reach. */
  bystander: string;
  /** Orders of the trader in the other market, and of the bystander in the same one. */
  traderOrder: string;
  bystanderOrder: string;
}

type Attempt = (client: PoolClient, scene: Scene) => Promise<unknown>;

const operate =
  (call: (scene: Scene) => string): Attempt =>
  async (client, scene) => {
    await client.query("set local role exchange_operator");
    await client.query(`select ${call(scene)}`);
  };

const deposit = (who: "trader" | "maker" | "bystander"): Attempt =>
  operate((scene) => `admin.deposit('${scene[who]}', 100, 'meanwhile')`);

const order =
  (who: "trader" | "maker" | "bystander", where: "market" | "other"): Attempt =>
  (client, scene) =>
    placeOrders(client, [{ marketId: scene[where], userId: scene[who], ...buy("yes", 1, 10) }]);

const attempts: Record<string, Attempt> = {
  "an order of another user in another market": order("bystander", "other"),
  "an order of another user in the same market": order("bystander", "market"),
  "an order of the same trader in another market": order("trader", "other"),
  "an order of the maker in another market": order("maker", "other"),
  "a preview by the same trader in the same market": (client, { market, trader }) =>
    call(client, api.previewOrder, {
      order: { marketId: market, userId: trader, ...buy("yes", 5, 60) },
    }),
  "a cancel in the same market": (client, { bystander, bystanderOrder }) =>
    call(client, api.runCommand, { command: "cancel", userId: bystander, orderId: bystanderOrder }),
  "a cancel by the same trader in another market": (client, { trader, traderOrder }) =>
    call(client, api.runCommand, { command: "cancel", userId: trader, orderId: traderOrder }),
  "a deposit to the trader": deposit("trader"),
  "a deposit to the maker": deposit("maker"),
  "a deposit to a user whose order it cannot reach": deposit("bystander"),
  "new loss limits of the trader": operate(
    ({ trader }) => `admin.set_loss_limits('${trader}', 1, 1, 1)`,
  ),
  "closing the market": operate(({ market }) => `admin.set_market_status('${market}', 'closed')`),
  "pausing the site": operate(() => "admin.set_trading_pause(true)"),
  "a new API key of the trader": operate(({ trader }) => `admin.create_api_key('${trader}', 'x')`),
  "reading the book": (client, { market }) => call(client, api.getOrderBook, { marketId: market }),
  "verifying the ledger": operate(() => "ledger.verify()"),
};

test("commands that may run while an order is carried out", async (t) => {
  const scene = await makeScene();
  await transaction("exchange_api", async (carryingOut) => {
    const order = { marketId: scene.market, userId: scene.trader, ...buy("yes", 5, 60) };
    const [outcome] = await placeOrders(carryingOut, [order]);
    t.is(outcome!.code, null);
    const found: string[][] = [];
    for (const [name, attempt] of Object.entries(attempts)) {
      found.push([name, await happens(t, attempt, scene)]);
    }
    t.deepEqual(rowsUnder("### What may run at the same time"), found);
  });
});

async function makeScene(): Promise<Scene> {
  const [market, other] = await exchange.makeMarkets(2);
  const [maker, bystander, trader] = await exchange.makeTraders(3);
  await exchange.rest(market, maker, buy("no", 10, 50));
  const [bystanderOrder] = await exchange.rest(market, bystander, buy("no", 10, 20));
  const [traderOrder] = await exchange.rest(other, trader, buy("yes", 10, 20));
  return {
    ...{ market, other, trader, maker, bystander },
    ...{ traderOrder, bystanderOrder },
  };
}

async function happens(t: ExecutionContext, attempt: Attempt, scene: Scene): Promise<string> {
  return await transaction("exchange_api", async (client) => {
    await client.query("set local lock_timeout = '150ms'");
    try {
      await attempt(client, scene);
      return "goes on";
    } catch (error) {
      t.is((error as { code?: string }).code, "55P03");
      return "waits";
    }
  });
}

/** Rolled back at its end. The login may take every role. */
function transaction<T>(role: "exchange_api", work: (client: PoolClient) => Promise<T>) {
  return exchange.withRollback(async (client) => {
    await client.query(`set local role ${role}`);
    return await work(client);
  });
}
