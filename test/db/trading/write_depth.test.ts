import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { amend, cancel, clock, giveShares, makeMarket, makeTrader, operate, place } = exchange;
const { rest, version, withRollback, work } = exchange;

const NOON = "2030-01-01T12:00:00Z";

test.serial.beforeEach(() => clock.freeze(NOON));

/** A depth with shares at some places only. */
const depthOf = (shares: Record<number, number>) =>
  Array.from({ length: 198 }, (_, index) => shares[index + 1] ?? 0);

async function value(expression: string, values: unknown[]): Promise<unknown> {
  const { rows } = await exchange.database.pool.query(`select ${expression} as value`, values);
  return rows[0].value;
}

const changed = (depth: number[], places: number[], changes: number[]) =>
  value("trading.changed_depth($1, $2, $3)", [depth, places, changes]);

const best = (shares: Record<number, number>, side: string, from: number) =>
  value("trading.best_in_depth($1, $2, $3)", [depthOf(shares), side, from]);

/** Where the book of a market begins, and its depth: YES price p as yes p, NO price as no p. */
async function state(market: string) {
  const { rows } = await exchange.database.pool.query(
    `select s.best_yes_price as yes, s.best_no_price as no, (
       select coalesce(json_object_agg(l.book_side || ' ' || l.book_price, l.quantity), '{}')
       from trading.book_levels as l
       where l.market_id = s.market_id and l.quantity > 0
     ) as depth
     from trading.market_state as s
     join catalog.markets as m on m.id = s.market_id
     where m.public_id = $1`,
    [market],
  );
  return rows[0];
}

test("a changed depth: each change at its place, also several at one", async (t) => {
  const depth = depthOf({ 1: 5, 99: 7, 100: 8, 198: 9 });
  t.deepEqual(
    await changed(depth, [1, 198, 100, 1, 50], [-2, -9, 1, -3, 4]),
    depthOf({ 50: 4, 99: 7, 100: 9 }),
  );
  t.deepEqual(await changed(depth, [], []), depth);
  t.deepEqual(await value("trading.changed_depth($1, null, null)", [depth]), depth);
});

test("the best price of a depth: of its side, from a price down, 0 without any", async (t) => {
  // YES at 1, 40 and 99; NO at 1 (place 100) and 60 (place 159).
  const shares = { 1: 1, 40: 2, 99: 3, 100: 4, 159: 5 };
  t.is(await best(shares, "yes", 99), 99);
  t.is(await best(shares, "yes", 98), 40);
  t.is(await best(shares, "yes", 40), 40);
  t.is(await best(shares, "yes", 39), 1);
  t.is(await best(shares, "yes", 0), 0);
  t.is(await best(shares, "no", 99), 60);
  t.is(await best(shares, "no", 60), 60);
  t.is(await best(shares, "no", 59), 1);
  t.is(await best({ 99: 1 }, "no", 99), 0);
  t.is(await best({ 100: 1 }, "yes", 99), 0);
});

test.serial("orders that leave the book leave the depth and the best prices", async (t) => {
  const market = await makeMarket();
  const [ann, bob] = [await makeTrader(), await makeTrader()];
  await giveShares(market, ann, "yes", 20);
  const [yes40, yes40Too, yes30] = (await rest(
    ...[market, ann],
    buy("yes", 10, 40),
    buy("yes", 3, 40),
    buy("yes", 5, 30),
  )) as [string, string, string];
  // To sell YES at 70 is to stand on the NO side at 30.
  const [sale] = (await rest(market, ann, sell("yes", 6, 70))) as [string];
  const expiresAt = new Date(Date.parse(NOON) + 1000).toISOString();
  await rest(market, bob, buy("no", 4, 35, { expiresAt }));
  const depth = { "yes 40": 13, "yes 30": 5, "no 30": 6, "no 35": 4 };
  t.deepEqual(await state(market), { yes: 40, no: 35, depth });

  await amend(ann, yes40, { quantity: 7 });
  t.deepEqual(await state(market), { yes: 40, no: 35, depth: { ...depth, "yes 40": 10 } });
  await place(market, bob, buy("no", 2, 60));
  t.deepEqual(await state(market), { yes: 40, no: 35, depth: { ...depth, "yes 40": 8 } });
  await cancel(ann, yes40);
  t.deepEqual(await state(market), { yes: 40, no: 35, depth: { ...depth, "yes 40": 3 } });

  await amend(ann, yes40Too, { price: 20 });
  const left = { "yes 30": 5, "yes 20": 3, "no 30": 6 };
  t.deepEqual(await state(market), { yes: 30, no: 35, depth: { ...left, "no 35": 4 } });
  await amend(ann, yes30, { price: 41, quantity: 8 });
  const raised = { "yes 41": 8, "yes 20": 3, "no 30": 6 };
  t.deepEqual(await state(market), { yes: 41, no: 35, depth: { ...raised, "no 35": 4 } });

  await clock.advance(1000);
  t.is(await work("expire_orders"), 1);
  t.deepEqual(await state(market), { yes: 41, no: 30, depth: raised });
  await cancel(ann, sale);
  t.deepEqual(await state(market), { yes: 41, no: 0, depth: { "yes 41": 8, "yes 20": 3 } });
  await operate("set_market_status", { market_id: market, status: "closed" });
  t.deepEqual(await state(market), { yes: 0, no: 0, depth: {} });
  t.deepEqual(await exchange.verify(), []);
});

test.serial("the search for the first order begins anew where the best price moves", async (t) => {
  const market = await makeMarket();
  const [ann, bob] = [await makeTrader(), await makeTrader()];
  const [below] = (await rest(market, ann, buy("no", 5, 30))) as [string];
  const [first, second] = (await rest(market, ann, buy("no", 5, 40), buy("no", 5, 40))) as [
    string,
    string,
  ];
  // The first of 40 is taken: the search begins behind it, so behind the older order at 30.
  await place(market, bob, buy("yes", 5, 60));
  t.is((await exchange.order(ann, first)).status, "filled");
  await cancel(ann, second);
  await place(market, bob, buy("yes", 5, 70));
  t.is((await exchange.order(ann, below)).status, "filled");
  t.deepEqual(await exchange.verify(), []);
});

test.serial("orders of all prices are cancelled by one update of their market", async (t) => {
  const market = await makeMarket();
  const ann = await makeTrader();
  await rest(market, ann, ...[10, 20, 20, 30].map((price) => buy("yes", 2, price)));
  const before = await version(market);
  await withRollback(async (client) => {
    await client.query("select admin.cancel_orders($1, $2)", [ann, market]);
    const { rows } = await client.query(
      `select n_tup_upd::int as updates from pg_stat_xact_user_tables
       where schemaname = 'trading' and relname = 'market_state'`,
    );
    t.deepEqual(rows, [{ updates: 1 }]);
  });
  await operate("cancel_orders", { user_id: ann, market_id: market });
  t.is(await version(market), before + 1);
});
