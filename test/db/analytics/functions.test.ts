import test from "ava";
import type { ExecutionContext } from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** What the functions of analytics refuse, and that their days are UTC days. */

const exchange = testExchange(test);
const { clock, makeMarket, makeTraders, place, rest } = exchange;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const INVALID_REQUEST = "EX001";
const NOT_FOUND = "EX017";
const zones = ["UTC", "America/New_York", "Asia/Kolkata"];

/** New York sets its clocks forward on the second of these days. */
const firstDay = Date.parse("2030-03-09T00:00Z");
/** Near the ends of days, so that each zone has some of them on another day. */
const tradedAt = [1, 23, 26, 46.5, 47, 49, 71].map((hour) => firstDay + hour * HOUR_MS);

let analysts: ReturnType<typeof exchange.database.connectAs>;
let market: string;
let traders: [string, string];

test.serial.before(async () => {
  analysts = exchange.database.connectAs("exchange_analyst");
  await clock.freeze(new Date(firstDay - DAY_MS));
  market = await makeMarket();
  traders = await makeTraders(2);
  for (const [index, at] of tradedAt.entries()) {
    await clock.freeze(new Date(at));
    await rest(market, traders[0], buy("yes", 10 + index, 40 + index));
    await place(market, traders[1], buy("no", 5 + index, 60 - index));
  }
  await clock.freeze(new Date(firstDay + 366 * DAY_MS));
});

async function query(text: string, values: unknown[] = [], zone = "UTC"): Promise<any[]> {
  const client = await analysts.connect();
  try {
    await client.query(`set timezone = '${zone}'`);
    return (await client.query(text, values)).rows;
  } finally {
    await client.query("reset timezone");
    client.release();
  }
}

interface Refusal {
  code: string;
  message: string;
  hint: string;
}

async function refused(
  t: ExecutionContext,
  code: string,
  call: string,
  values: unknown[],
): Promise<Refusal> {
  const error: any = await t.throwsAsync(query(`select * from analytics.${call}`, values), {
    code,
  });
  return error;
}

const candles = "candles($1, $2, $3, $4)";
const history = "book_history($1, $2, $3, $4)";
const best = "time_at_best($1, $2, $3)";
const [since, until] = [new Date(firstDay), new Date(firstDay + 3 * DAY_MS)];

test("NOT_FOUND: an unknown market", async (t) => {
  const unknown = "01900000-0000-7000-8000-000000000000";
  for (const [call, rest] of [
    ["market_key($1)", []],
    ["book_as_of($1, $2)", [since]],
    [history, ["1 hour", since, until]],
    [candles, ["1 hour", since, until]],
    [best, [since, until]],
  ] as const) {
    const { message } = await refused(t, NOT_FOUND, call, [unknown, ...rest]);
    t.is(message, `There is no market ${unknown}`, call);
    await refused(t, NOT_FOUND, call, [null, ...rest]);
  }
});

test("INVALID_REQUEST: an impossible width or step", async (t) => {
  const refusals: [string, unknown[], RegExp][] = [
    [candles, ["1 month", since, until], /width 1 mon is not fixed/],
    [candles, ["1 year", since, until], /width 1 year is not fixed/],
    [candles, ["0", since, until], /The width must be above zero/],
    [candles, ["-1 hour", since, until], /The width must be above zero, not -01:00:00/],
    [candles, [null, since, until], /are required/],
    [candles, ["1 hour", null, until], /are required/],
    [candles, ["1 hour", until, since], /The end \(until\) must be after the start \(since\)/],
    [candles, ["1 hour", since, since], /The end \(until\) must be after the start \(since\)/],
    [history, ["0", since, until], /The step must be above zero/],
    [history, ["-1 day", since, until], /The step must be above zero, not -1 days/],
    [history, ["1 month -29 days -23:59:59", since, until], /No part of the step may be below/],
    [history, [null, since, until], /are required/],
    [history, ["1 hour", since, null], /are required/],
    [history, ["1 hour", until, since], /The end \(until\) must not be before the start \(since\)/],
    [history, ["1 hour", "-infinity", until], /must be finite/],
    [history, ["1 hour", since, "infinity"], /must be finite/],
    [best, [since, since], /The end \(until\) must be after the start \(since\)/],
    [best, [since, null], /The end \(until\) must be after the start \(since\)/],
  ];
  for (const [call, values, expected] of refusals) {
    const { message } = await refused(t, INVALID_REQUEST, call, [market, ...values]);
    t.regex(message, expected);
  }
  await refused(t, INVALID_REQUEST, "book_as_of($1, 'infinity')", [market]);
  for (const days of ["'2030-01-02', '2030-01-02'", "'2030-01-02', '2030-01-01'", "null, null"]) {
    const { message } = await refused(t, INVALID_REQUEST, `daily_trader_results(${days})`, []);
    t.is(message, "The end (until) must be a day after the start (since)");
  }
  for (const days of [
    ...["'2030-01-02', '2030-01-02'", "'2030-01-02', null", "'-infinity', '2030-01-02'"],
    "'2030-01-01', '2031-01-03'",
  ]) {
    const { message } = await refused(t, INVALID_REQUEST, `daily_equity(${days})`, []);
    t.regex(message, /a day after the start \(since\), at most 366 days/);
  }
});

test("INVALID_REQUEST: too many candles, with the width to use instead", async (t) => {
  const ever = ["-infinity", "infinity"];
  const { message, hint } = await refused(t, INVALID_REQUEST, candles, [
    ...[market, "1 second", ...ever],
  ]);
  // The market is 367 days old.
  t.is(message, `${367 * 86_400} candles are too many; the maximum is 50000`);
  const [, width] = /width of (\S+) or more/.exec(hint) ?? [];
  t.is(width, "00:10:35", "367 days are 50,000 times 634.2 seconds");
  const ask = (asked: string) =>
    query(`select * from analytics.${candles}`, [market, asked, ...ever]);
  t.is((await ask(width!)).length, tradedAt.length);
  await refused(t, INVALID_REQUEST, candles, [market, "634 seconds", ...ever]);
  // A short time may be asked for by the second.
  const hour = [new Date(firstDay), new Date(firstDay + 2 * HOUR_MS)];
  const seconds = await query(`select * from analytics.${candles}`, [market, "1 second", ...hour]);
  t.is(seconds.length, 1);
});

test("INVALID_REQUEST: books of too many moments, with the step to use instead", async (t) => {
  const moments = (count: number) => [
    ...[market, "1 minute", since, new Date(firstDay + (count - 1) * 60_000)],
  ];
  const { message, hint } = await refused(t, INVALID_REQUEST, history, moments(2001));
  t.is(message, "The book at 2001 moments is too much; the maximum is 2000 moments");
  const [, step] = /step of (\S+) or more/.exec(hint) ?? [];
  const count = "select count(distinct at)::int as count from analytics.";
  const [, , from, to] = moments(2001);
  t.true((await query(`${count}${history}`, [market, step, from, to]))[0].count > 1900);
  // An order rests from the second hour on.
  t.is((await query(`${count}${history}`, moments(2000)))[0].count, 2000 - 60);
});

test("steps of days and months are counted in UTC, in every time zone", async (t) => {
  for (const zone of zones) {
    const at = async (step: string, from: string, to: string) =>
      (
        await query(
          `select distinct at from analytics.${history} order by at`,
          [market, step, from, to],
          zone,
        )
      ).map((row) => row.at.toISOString());
    t.deepEqual(
      await at("1 day", "2030-03-09T23:30Z", "2030-03-12T00:00Z"),
      ["2030-03-09T23:30:00.000Z", "2030-03-10T23:30:00.000Z", "2030-03-11T23:30:00.000Z"],
      zone,
    );
    t.deepEqual(
      await at("1 month", "2030-03-15T01:00Z", "2030-06-01T00:00Z"),
      ["2030-03-15T01:00:00.000Z", "2030-04-15T01:00:00.000Z", "2030-05-15T01:00:00.000Z"],
      zone,
    );
  }
});

test("candles, results, revenue and openings are of UTC days, in every time zone", async (t) => {
  const days = [0, 1, 2].map((day) => new Date(firstDay + day * DAY_MS));
  const names = days.map((day) => day.toISOString().slice(0, 10));
  const traded = days.map((day) =>
    tradedAt.flatMap((at, index) => {
      const isToday = at >= day.getTime() && at < day.getTime() + DAY_MS;
      return isToday ? [{ quantity: 5 + index, price: 40 + index }] : [];
    }),
  );
  const total = (day: { quantity: number }[]) =>
    day.reduce((sum, { quantity }) => sum + quantity, 0);
  for (const zone of zones) {
    t.deepEqual(
      await query(
        `select opened_at, quantity, trade_count, open_yes_price_cents as open
         from analytics.${candles}`,
        [market, "1 day", since, until],
        zone,
      ),
      days.map((opened_at, index) => ({
        opened_at,
        quantity: total(traded[index]!),
        trade_count: traded[index]!.length,
        open: 40 + tradedAt.findIndex((at) => at >= opened_at.getTime()),
      })),
      zone,
    );
    t.deepEqual(
      await query(
        `select r.day, r.taker_quantity as quantity, r.fill_count as fills
         from analytics.daily_trader_results('2030-03-09', '2030-03-12') as r
         join analytics.users as u using (user_key)
         where u.user_id = $1 order by 1`,
        [traders[1]],
        zone,
      ),
      names.map((day, index) => ({
        ...{ day, quantity: total(traded[index]!), fills: traded[index]!.length },
      })),
      zone,
    );
    t.deepEqual(
      await query(
        "select day, trade_count from analytics.fee_revenue where market_id = $1 order by 1",
        [market],
        zone,
      ),
      names.map((day, index) => ({ day, trade_count: traded[index]!.length })),
      zone,
    );
    t.deepEqual(
      await query(
        "select day from analytics.day_openings where user_id = $1 order by 1 desc limit 3",
        [traders[0]],
        zone,
      ),
      names.toReversed().map((day) => ({ day })),
      zone,
    );
  }
});
