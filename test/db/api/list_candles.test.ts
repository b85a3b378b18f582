import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { randomFrom } from "../../helpers/random.ts";

/** api.list_candles and jobs.make_candles: prices by minute, hour and day. */

const exchange = testExchange(test);
const { clock, makeMarket, makeTraders, place, work } = exchange;

interface Range {
  since?: string;
  until?: string;
}

async function candles(marketId: string, interval: string, range: Range = {}): Promise<any[]> {
  const view = await exchange.calls.listCandles({ marketId, interval, ...range });
  return JSON.parse(view!.body).data;
}

let ann: string;
let bob: string;
test.serial.before("make traders", async () => {
  [ann, bob] = await makeTraders(2, { cents: 100_000_000 });
});

async function trade(market: string, price: number, quantity: number): Promise<void> {
  await place(market, ann, buy("yes", quantity, price));
  await place(market, bob, buy("no", quantity, 100 - price));
}

interface Traded {
  at: number;
  price: number;
  quantity: number;
}

/** What the candles of these trades are, by first principles. */
function expected(trades: Traded[], widthMs: number) {
  const starts = [...new Set(trades.map(({ at }) => Math.floor(at / widthMs) * widthMs))];
  return starts
    .toSorted((a, b) => a - b)
    .map((start) => {
      const inside = trades.filter(({ at }) => at >= start && at < start + widthMs);
      const prices = inside.map(({ price }) => price);
      return {
        start: new Date(start).toISOString(),
        open: prices[0],
        high: Math.max(...prices),
        low: Math.min(...prices),
        close: prices.at(-1),
        volume: inside.reduce((sum, { quantity }) => sum + quantity, 0),
        trades: inside.length,
      };
    });
}

const widths = { "1m": 60_000, "1h": 3_600_000, "1d": 86_400_000 };

test.serial("they are those of the trades, made up to any trade or not at all", async (t) => {
  const { between, chance } = randomFrom("candles");
  let now = Date.parse("2030-01-01T22:30:00Z");
  await clock.freeze(new Date(now).toISOString());
  const market = await makeMarket();
  const trades: Traded[] = [];
  for (let number = 0; number < 60; number++) {
    const traded = { at: now, price: between(20, 80), quantity: between(1, 9) };
    await trade(market, traded.price, traded.quantity);
    trades.push(traded);
    const ms = chance(0.5) ? between(0, 40_000) : between(0, 5_000_000);
    now += ms;
    await clock.advance(ms);
    if (chance(0.1)) await work("make_candles", { most: between(1, 5) });
    if (number % 10 > 0) continue;
    for (const [interval, width] of Object.entries(widths)) {
      t.deepEqual(await candles(market, interval), expected(trades, width), interval);
    }
  }
  await work("make_candles");
  for (const [interval, width] of Object.entries(widths)) {
    t.deepEqual(await candles(market, interval), expected(trades, width), interval);
  }
  t.is(await work("make_candles"), 0);

  const since = new Date(trades[20]!.at).toISOString();
  const until = new Date(trades[40]!.at).toISOString();
  const all = expected(trades, widths["1h"]);
  const first = new Date(Math.floor(trades[20]!.at / widths["1h"]) * widths["1h"]).toISOString();
  t.deepEqual(
    await candles(market, "1h", { since, until }),
    all.filter(({ start }) => start >= first && start < until),
  );
});

test.serial(
  "a candle starts at its first moment, and since and until are such moments",
  async (t) => {
    const market = await makeMarket();
    await clock.freeze("2031-01-01T10:00:00Z");
    await trade(market, 40, 1);
    await clock.freeze("2031-01-01T10:01:00Z");
    await trade(market, 50, 2);
    for (const ofTheJob of [false, true]) {
      if (ofTheJob) await work("make_candles");
      const starts = async (range: Range) =>
        (await candles(market, "1m", range)).map(({ start, volume }) => [start, volume]);
      const first = ["2031-01-01T10:00:00.000Z", 1];
      const second = ["2031-01-01T10:01:00.000Z", 2];
      t.deepEqual(await starts({}), [first, second]);
      t.deepEqual(await starts({ until: "2031-01-01T10:01:00Z" }), [first]);
      t.deepEqual(await starts({ since: "2031-01-01T10:01:00Z" }), [second]);
      t.deepEqual(await starts({ since: "2031-01-01T10:00:59.999Z" }), [first, second]);
    }
  },
);

test.serial("a call makes those of many markets, as far as it may", async (t) => {
  const at = Date.parse("2032-01-01T10:00:00Z");
  await clock.freeze(new Date(at).toISOString());
  const markets = await Promise.all(Array.from({ length: 5 }, () => makeMarket()));
  const trades = markets.map((_, place) => ({ at, price: 30 + place, quantity: 4 }));
  for (const [place, market] of markets.entries()) {
    for (let number = 0; number < 3; number++) await trade(market, trades[place]!.price, 4);
  }
  const rows = async (text: string, values: unknown[] = []): Promise<any[]> =>
    await exchange.query(text, values);
  const make = async (most: number, of?: string[]): Promise<number> =>
    (await rows("select jobs.make_candles($1, $2) as made", [most, of]))[0].made;
  const due = async (): Promise<string[][]> =>
    (await rows("select d as ids from jobs.due_candles() as d")).map(({ ids }) => ids);
  t.deepEqual([await make(7), await make(7), await make(7)], [7, 7, 1]);
  t.deepEqual(await due(), []);
  for (const [place, market] of markets.entries()) {
    const all = Array.from({ length: 3 }, () => trades[place]!);
    t.deepEqual(await candles(market, "1h"), expected(all, widths["1h"]));
  }

  for (const market of markets) await trade(market, 50, 1);
  const [ids, ...others] = (await due()) as [string[]];
  t.deepEqual([ids.length, others], [5, []], "they are one group");
  t.is(await make(100, ids.slice(0, 2)), 2, "of the markets that are named");
  t.is(await make(100, ids), 3, "and of the others");

  // As if they had more: a group has some 10,000 trades.
  await exchange.withRollback(async (client) => {
    for (const [place, count] of [20_000, 4_000, 4_000, 4_000, 1].entries()) {
      await client.query(
        "update trading.candle_progress set trade_count = trade_count - $1 where market_id = $2",
        [count, ids[place]],
      );
    }
    const { rows: groups } = await client.query(
      "select cardinality(d) as n from jobs.due_candles() as d",
    );
    t.deepEqual(
      groups.map(({ n }) => n),
      [3, 2],
    );
  });
});

test.serial("the newest 1,000 at most, oldest first", async (t) => {
  const market = await makeMarket();
  await exchange.query(
    `insert into trading.candles (
       market_id, width_minutes, start_at, open_price, high_price, low_price, close_price,
       quantity, trade_count
     )
     select m.id, 1, '2029-01-01'::timestamptz + n * interval '1 minute', 50, 50, 50, 50, n, 1
     from catalog.markets as m, generate_series(1, 1500) as n
     where m.public_id = $1`,
    [market],
  );
  const found = await candles(market, "1m");
  t.is(found.length, 1000);
  t.deepEqual([found[0].volume, found[999].volume], [501, 1500]);
  // No trade made them.
  await exchange.query("delete from trading.candles where start_at < '2030-01-01'");
});

test.serial("an unknown market has no row; INVALID_REQUEST for an unknown interval", async (t) => {
  const unknown = "01900000-0000-7000-8000-000000000000";
  t.is(await exchange.calls.listCandles({ marketId: unknown, interval: "1h" }), undefined);
  await t.throwsAsync(candles(await makeMarket(), "5m"), { code: "EX001" });
});
