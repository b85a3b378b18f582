import test from "ava";
import fc from "fast-check";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell, spend } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";
import { effort, seed } from "../../helpers/random.ts";

const exchange = testExchange(test);
const {
  amend,
  book,
  cancel,
  clock,
  makeLiveMarket,
  makeMarket,
  makeMarketWith,
  makeTrader,
  makeTraders,
  operate,
} = exchange;
const { place, placeBatch, rest, work } = exchange;

interface Level {
  side: "bid" | "ask";
  price: number;
  quantity: number;
  orders: number;
}

async function query(text: string, values: unknown[] = []): Promise<any[]> {
  return (await exchange.database.pool.query(text, values)).rows;
}

const levels = `side, yes_price_cents as price, quantity, order_count as orders`;

const bookNow = (market: string): Promise<Level[]> =>
  query(`select ${levels} from analytics.book_depth where market_id = $1 order by 1, 2`, [market]);

const bookAsOf = (market: string, at: Date): Promise<Level[]> =>
  query(`select ${levels} from analytics.book_as_of($1, $2) order by 1, 2`, [market, at]);

async function now(): Promise<Date> {
  return (await query("select analytics.now() as now"))[0].now;
}

/** As the public sees it. */
function shown(book: Level[]) {
  const side = (name: "bid" | "ask") =>
    book
      .filter((level) => level.side === name)
      .sort((a, b) => (name === "bid" ? b.price - a.price : a.price - b.price))
      .map(({ quantity, price }) => `${quantity} @ ${price}`);
  return { bids: side("bid"), asks: side("ask") };
}

test.serial("a past book has no later fills, amendments, cancels and expiries", async (t) => {
  await clock.freeze("2030-01-01T12:00:00Z");
  const [market, ann, bob] = await makeMarketWith(2);
  const moments: Date[] = [];
  const next = async () => {
    moments.push(await now());
    await clock.advance(1000);
  };

  await next();
  const [first] = await rest(market, ann, buy("yes", 100, 40));
  await rest(market, ann, buy("no", 7, 30, { expiresAt: "2030-01-01T12:00:05Z" }));
  await next();
  await place(market, bob, buy("no", 30, 60));
  await next();
  t.true((await amend(ann, first, { quantity: 50 })).answer!.amended);
  await next();
  t.true((await amend(ann, first, { quantity: 40 })).answer!.amended);
  await next();
  // In this moment the NO order expires.
  await cancel(ann, first);
  await next();

  const seen = await Promise.all(moments.map(async (at) => shown(await bookAsOf(market, at))));
  t.deepEqual(seen, [
    { bids: [], asks: [] },
    { bids: ["100 @ 40"], asks: ["7 @ 70"] },
    { bids: ["70 @ 40"], asks: ["7 @ 70"] },
    { bids: ["20 @ 40"], asks: ["7 @ 70"] },
    { bids: ["10 @ 40"], asks: ["7 @ 70"] },
    { bids: [], asks: [] },
  ]);
  t.deepEqual(
    await query(
      "select quantity_before, quantity_after from analytics.order_reductions order by 1",
    ),
    [
      { quantity_before: 50, quantity_after: 40 },
      { quantity_before: 100, quantity_after: 50 },
    ],
  );
  t.deepEqual(
    await query("select original_quantity, quantity from analytics.orders where order_id = $1", [
      first,
    ]),
    [{ original_quantity: 100, quantity: 40 }],
  );
});

test.serial("an order that expires before its release is in no book", async (t) => {
  await clock.freeze("2030-06-01T12:00:00Z");
  const { market } = await makeLiveMarket();
  const ann = await makeTrader();
  await place(market, ann, buy("yes", 9, 40, { expiresAt: "2030-06-01T12:00:02Z" }));
  await place(market, ann, buy("yes", 5, 40));
  await clock.advance(3000);
  await exchange.release(market);
  const books = await query(
    `select extract(second from at)::int as second, quantity, order_count
     from analytics.book_history($1, '1 second', $2, $3) order by at`,
    [market, "2030-06-01T12:00:00Z", "2030-06-01T12:00:04Z"],
  );
  t.deepEqual(books, [
    { second: 3, quantity: 5, order_count: 1 },
    { second: 4, quantity: 5, order_count: 1 },
  ]);
});

const sometimes = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value });

const steps = fc.record({
  market: fc.nat(1),
  trader: fc.nat(3),
  kind: fc.constantFrom("place", "place", "place", "place", "cancel", "reduce", "replace", "sweep"),
  request: fc
    .record({
      side: fc.constantFrom("yes" as const, "no" as const),
      form: fc.constantFrom(buy, buy, buy, sell),
      quantity: fc.integer({ min: 1, max: 40 }),
      price: fc.integer({ min: 42, max: 54 }),
      budget: sometimes(fc.integer({ min: 100, max: 900 })),
      expiresIn: sometimes(fc.constantFrom(1, 2000, 30_000)),
    })
    .map(({ side, form, quantity, price, budget, expiresIn }) => ({
      expiresIn,
      order: budget === null ? form(side, quantity, price) : spend(side, budget),
    })),
  which: fc.nat(99),
  waitMs: fc.constantFrom(1, 1, 700, 2000),
});

test.serial("the books of all moments of a random history are found again", async (t) => {
  const fewest = Math.max(effort(250), 150);
  const settings = { seed: seed(), numRuns: 10 * fewest };
  const kinds = ["cancelled", "queued", "reduced", "released", "replaced"];
  await clock.freeze("2031-01-01T12:00:00Z");
  const markets = [await makeMarket(), (await makeLiveMarket()).market];
  const traders = await makeTraders(4);
  const placed: { trader: string; order: string }[] = [];
  const past: { market: string; at: Date; levels: Level[] }[] = [];
  const done = new Set<string>();

  for (const [index, step] of fc.sample(steps, settings).entries()) {
    if (index >= fewest && done.size === kinds.length) break;
    const market = markets[step.market]!;
    const trader = traders[step.trader]!;
    const known = placed[placed.length - 1 - (step.which % 8)];
    if (step.kind === "place") {
      const { expiresIn, order } = step.request;
      const request: Request = order;
      if (expiresIn !== null && order.budgetCents === undefined) {
        request.expiresAt = new Date((await now()).getTime() + expiresIn).toISOString();
      }
      const [outcome] = await placeBatch(market, [[trader, request]]);
      if (outcome!.answer) placed.push({ trader, order: outcome!.answer.order.id });
    } else if (step.kind === "sweep") {
      await work("release_orders", { market_id: await keyOf(market) });
      await work("expire_orders");
    } else if (known !== undefined && step.kind === "cancel") {
      if ((await cancel(known.trader, known.order)).code === null) done.add("cancelled");
    } else if (known !== undefined) {
      const quantity = step.kind === "reduce" ? 1 + (step.which % 5) : 20 + step.which;
      const { answer } = await amend(known.trader, known.order, { quantity });
      if (answer?.amended) done.add(answer.queuePositionChanged ? "replaced" : "reduced");
    }
    for (const each of markets) {
      const snapshot = await bookNow(each);
      t.deepEqual(shown(snapshot), await book(each), "the view shows the public book");
      past.push({ market: each, at: await now(), levels: snapshot });
      if (each === markets[1] && snapshot.length > 0) done.add("released");
      if (snapshot.some(({ orders }) => orders > 1)) done.add("queued");
    }
    await clock.advance(step.waitMs);
  }
  t.deepEqual([...done].sort(), kinds);

  const check = async (when: string) => {
    for (const { market, at, levels: expected } of past) {
      t.deepEqual(await bookAsOf(market, at), expected, `${when}, ${at.toISOString()}`);
    }
  };
  await check("right after");
  for (const market of markets) {
    const [compared] = await query(
      `select
         count(*) filter (where h.at is null or b.at is null)::int as different,
         count(distinct b.at)::int > 10 as many
       from analytics.book_history($1, '1 second', $2, $3) as h
       full join (
         select s.at, x.*
         from generate_series($2::timestamptz, $3, '1 second') as s (at)
         cross join lateral analytics.book_as_of($1, s.at) as x
       ) as b
         using (at, side, yes_price_cents, quantity, order_count)`,
      [market, past[0]!.at, past.at(-1)!.at],
    );
    t.deepEqual(compared, { different: 0, many: true });
  }
  for (const market of markets) {
    await operate("set_market_status", { market_id: market, status: "closed" });
  }
  await clock.advance(40 * 86_400_000);
  t.true((await work("archive_orders")) > 0);
  const [{ archived }] = await query(
    "select count(*) as archived from analytics.orders where is_archived",
  );
  t.true(archived > 0);
  await check("after the archive");
});

async function keyOf(market: string): Promise<number> {
  const [row] = await query("select market_key from analytics.markets where market_id = $1", [
    market,
  ]);
  return row.market_key;
}
