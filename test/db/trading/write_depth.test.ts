import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { amend, cancel, clock, giveShares, makeMarketWith, operate, place } = exchange;
const { rest, version, withRollback, work } = exchange;

const NOON = "2030-01-01T12:00:00Z";

test.serial.beforeEach(() => clock.freeze(NOON));

/** A depth with shares at some places only: null elsewhere, or 0 as 0.3.0 made it. */
const depthOf = (shares: Record<number, number>, empty: 0 | null = null) =>
  Array.from({ length: 198 }, (_, index) => shares[index + 1] ?? empty);

interface Book {
  depth: (number | null)[];
  best_yes_price: number;
  first_yes_position: number;
  best_no_price: number;
  first_no_position: number;
}

/** What orders of a call did at a place: shares that came or left, and their positions. */
interface Change {
  place: number;
  change: number;
  left?: number;
  gone?: number;
}

/** A book with these shares, whose queues were read up to some positions. */
const bookOf = (shares: Record<number, number>, first_yes_position = 0, first_no_position = 0) => {
  const places = Object.keys(shares).map(Number);
  return {
    depth: depthOf(shares),
    best_yes_price: Math.max(0, ...places.filter((place) => place < 100)),
    first_yes_position,
    best_no_price: Math.max(99, ...places) - 99,
    first_no_position,
  };
};

async function changed(book: Book, changes: Change[]): Promise<Book> {
  const { rows } = await exchange.database.pool.query(
    `select to_json(b) as book
     from trading.changed_book(
       jsonb_populate_record(null::trading.market_state, $1), $2, $3, $4, $5
     ) as b`,
    [
      JSON.stringify(book),
      changes.map(({ place }) => place),
      changes.map(({ change }) => change),
      ...[changes.map(({ left }) => left ?? null), changes.map(({ gone }) => gone ?? null)],
    ],
  );
  const { depth, best_yes_price, first_yes_position, best_no_price, first_no_position } =
    rows[0].book;
  return { depth, best_yes_price, first_yes_position, best_no_price, first_no_position };
}

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

test("a changed book: each change at its place, also several at one", async (t) => {
  const book = bookOf({ 1: 5, 99: 7, 100: 8, 198: 9 });
  t.deepEqual(
    await changed(book, [
      { place: 1, change: -2 },
      { place: 198, change: -9 },
      { place: 100, change: 1 },
      { place: 1, change: -3 },
      { place: 50, change: 4 },
    ]),
    bookOf({ 50: 4, 99: 7, 100: 9 }),
  );
  t.deepEqual(await changed(book, []), book);
});

test("places that 0.3.0 wrote as 0 count as empty, and become null when they empty again", async (t) => {
  const before = {
    ...bookOf({ 40: 2, 60: 3, 150: 4 }),
    depth: depthOf({ 40: 2, 60: 3, 150: 4 }, 0),
  };
  const after = await changed(before, [
    { place: 60, change: -3 },
    { place: 150, change: -4 },
    { place: 10, change: 6 },
  ]);
  const depth = depthOf({ 10: 6, 40: 2 }, 0);
  depth[60 - 1] = depth[150 - 1] = null;
  t.deepEqual(after.depth, depth);
  t.is(after.best_yes_price, 40);
  t.is(after.best_no_price, 0);
});

test("the best prices follow the depth, each on its side, down to none", async (t) => {
  // YES at 1, 40 and 99; NO at 1 (place 100) and 60 (place 159).
  const shares = { 1: 1, 40: 2, 99: 3, 100: 4, 159: 5 };
  const best = async (...changes: [place: number, change: number][]) => {
    const all = changes.map(([place, change]) => ({ place, change }));
    const { best_yes_price: yes, best_no_price: no } = await changed(bookOf(shares), all);
    return { yes, no };
  };
  t.deepEqual(await best([40, -2]), { yes: 99, no: 60 });
  t.deepEqual(await best([99, -2]), { yes: 99, no: 60 });
  t.deepEqual(await best([99, -3]), { yes: 40, no: 60 });
  t.deepEqual(await best([99, -3], [40, -2]), { yes: 1, no: 60 });
  t.deepEqual(await best([99, -3], [40, -2], [1, -1]), { yes: 0, no: 60 });
  t.deepEqual(await best([99, -3], [41, 1]), { yes: 41, no: 60 });
  t.deepEqual(await best([159, -5]), { yes: 99, no: 1 });
  t.deepEqual(await best([159, -5], [100, -4]), { yes: 99, no: 0 });
  t.deepEqual(await best([198, 1]), { yes: 99, no: 99 });
});

test("a queue is read from the first order left, or behind the last one gone", async (t) => {
  const book = bookOf({ 40: 9, 30: 5, 159: 5, 158: 5 }, 7, 8);
  const first = async (...changes: Change[]) => {
    const { first_yes_position: yes, first_no_position: no } = await changed(book, changes);
    return { yes, no };
  };
  t.deepEqual(await first({ place: 40, change: 1 }), { yes: 7, no: 8 });
  t.deepEqual(
    await first({ place: 40, change: -1, gone: 12 }, { place: 40, change: -1, gone: 9 }),
    { yes: 13, no: 8 },
  );
  t.deepEqual(
    await first(
      { place: 40, change: -1, gone: 12 },
      { place: 40, change: -1, left: 15 },
      { place: 40, change: 0, left: 16 },
    ),
    { yes: 15, no: 8 },
  );
  t.deepEqual(await first({ place: 159, change: -1, gone: 20 }), { yes: 7, no: 21 });
  // An order that is gone from an earlier part of the queue does not lead back to it.
  t.deepEqual(await first({ place: 159, change: -1, gone: 3 }), { yes: 7, no: 8 });
  // The best price moves: what is known of its queue is what the call has left there.
  t.deepEqual(await first({ place: 40, change: -9, gone: 12 }), { yes: 0, no: 8 });
  t.deepEqual(
    await first({ place: 40, change: -9, gone: 12 }, { place: 30, change: -1, left: 11 }),
    { yes: 11, no: 8 },
  );
  t.deepEqual(await first({ place: 41, change: 3 }, { place: 160, change: 3 }), { yes: 0, no: 0 });
  // Without NO orders, place 99 is the YES side's alone.
  const yesOnly = await changed(bookOf({ 99: 1, 98: 5 }), [{ place: 99, change: -1, gone: 5 }]);
  t.is(yesOnly.first_no_position, 0);
});

test.serial("orders that leave the book leave the depth and the best prices", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await giveShares(market, ann, "yes", 20);
  const [yes40, yes40Too, yes30] = await rest(
    ...[market, ann],
    buy("yes", 10, 40),
    buy("yes", 3, 40),
    buy("yes", 5, 30),
  );
  // To sell YES at 70 is to stand on the NO side at 30.
  const [sale] = await rest(market, ann, sell("yes", 6, 70));
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
  const [market, ann, bob] = await makeMarketWith(2);
  const [below] = await rest(market, ann, buy("no", 5, 30));
  const [first, second] = await rest(market, ann, buy("no", 5, 40), buy("no", 5, 40));
  // The first of 40 is taken: the search begins behind it, so behind the older order at 30.
  await place(market, bob, buy("yes", 5, 60));
  t.is((await exchange.order(ann, first)).status, "filled");
  await cancel(ann, second);
  await place(market, bob, buy("yes", 5, 70));
  t.is((await exchange.order(ann, below)).status, "filled");
  t.deepEqual(await exchange.verify(), []);
});

test.serial("orders of all prices are cancelled by one update of their market", async (t) => {
  const [market, ann] = await makeMarketWith(1);
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
