import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** admin.statement: the cash of a user from one day to another. */

const exchange = testExchange(test);
const { clock, makeMarket, makeMarketWith, makeTrader, operate, place, rest } = exchange;

const DAY_MS = 86_400_000;
const noon = (day: string) => `${day}T12:00:00.000Z`;

interface Line {
  at: string;
  kind: string;
  cents: number;
  balance: number;
  market: string | null;
  reference: string | null;
}

async function statement(user_id: string, from_day: string, to_day: string): Promise<Line[]> {
  const rows = await exchange.query(
    `select at, kind, amount_cents::int as cents, balance_cents::int as balance,
       market_title as market, reference
     from admin.statement(user_id => $1, from_day => $2, to_day => $3)`,
    [user_id, from_day, to_day],
  );
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }));
}

test.serial.afterEach.always("the clock runs again", () => clock.release());

test.serial("each day begins with what the one before ended with", async (t) => {
  await clock.freeze(noon("2040-02-28"));
  const ann = await makeTrader({ cents: 10_000 });
  const bob = await makeTrader();
  await clock.advance(DAY_MS);
  const market = await makeMarket({ title: "Will it snow?" });
  await rest(market, bob, buy("no", 10, 40));
  const { fills } = await place(market, ann, buy("yes", 10, 60)); // fee 7 % of 2.4, 16.8 cents
  await clock.advance(2 * DAY_MS);
  await operate("withdraw", { user_id: ann, amount_cents: 1000, reference: "out" });
  await operate("resolve_market", { market_id: market, outcome: "yes" });

  const [deposit] = (await statement(ann, "2040-02-28", "2040-02-28")).slice(1);
  t.like(deposit, { kind: "deposit", cents: 10_000, balance: 10_000, market: null });
  t.deepEqual(await statement(ann, "2040-02-29", "2040-03-02"), [
    opening("2040-02-29", 10_000),
    {
      at: noon("2040-02-29"),
      ...{ kind: "trade", cents: -617, balance: 9383 },
      ...{ market: "Will it snow?", reference: fills[0]!.id },
    },
    {
      at: noon("2040-03-02"),
      ...{ kind: "withdrawal", cents: -1000, balance: 8383, market: null, reference: "out" },
    },
    {
      at: noon("2040-03-02"),
      ...{ kind: "settlement", cents: 1000, balance: 9383, market: "Will it snow?" },
      reference: null,
    },
    closing("2040-03-03", 9383),
  ]);
  t.deepEqual(await statement(ann, "2040-03-01", "2040-03-01"), [
    opening("2040-03-01", 9383),
    closing("2040-03-02", 9383),
  ]);
  t.deepEqual(await statement(ann, "2040-02-01", "2040-02-27"), [
    opening("2040-02-01", 0),
    closing("2040-02-28", 0),
  ]);
  t.deepEqual(await statement(ann, "2040-03-03", "2040-03-04"), [
    opening("2040-03-03", 9383),
    closing("2040-03-05", 9383),
  ]);
});

const opening = (day: string, balance: number): Line => bound("opening", day, balance);
const closing = (day: string, balance: number): Line => bound("closing", day, balance);
const bound = (kind: string, day: string, balance: number): Line => ({
  at: `${day}T00:00:00.000Z`,
  ...{ kind, cents: 0, balance, market: null, reference: null },
});

test.serial("the movements of a maker and a taker add up to the closing balance", async (t) => {
  await clock.freeze(noon("2040-06-01"));
  const [market, ann, bob] = await makeMarketWith(2);
  for (const price of [30, 45, 60]) {
    await clock.advance(DAY_MS / 3);
    await rest(market, ann, buy("no", 7, 100 - price));
    await place(market, bob, buy("yes", 5, price));
    await rest(market, bob, buy("yes", 3, price - 5));
    await place(market, ann, buy("no", 2, 105 - price));
  }
  for (const user of [ann, bob]) {
    const lines = await statement(user, "2040-06-02", "2040-12-31");
    let balance = lines[0]!.balance;
    for (const line of lines) t.is(line.balance, (balance += line.cents));
    t.is(lines.at(-1)!.balance, await exchange.balance(user));
    t.true(lines.length > 5);
  }
});

test.serial("the void of a trade names the trade, that of a market names none", async (t) => {
  await clock.freeze(noon("2040-09-01"));
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, bob, buy("no", 20, 40));
  const { fills } = await place(market, ann, buy("yes", 10, 60)); // fee 7 % of 2.4, 16.8 cents
  const kept = await place(market, ann, buy("yes", 5, 60)); // 8.4 cents
  await operate("void_trade", { trade_id: fills[0]!.id, reason: "entered twice" });
  await operate("void_market", { market_id: market, reason: "a wrong question" });
  for (const [user, cents] of [
    [ann, { voided: -617, kept: -309 }],
    [bob, { voided: -400, kept: -200 }],
  ] as const) {
    const lines = await statement(user, "2040-09-01", "2040-09-01");
    const about = lines.slice(2, -1).map(({ kind, cents, reference }) => [kind, cents, reference]);
    t.deepEqual(about, [
      ["trade", cents.voided, fills[0]!.id],
      ["trade", cents.kept, kept.fills[0]!.id],
      ["void", -cents.voided, fills[0]!.id],
      ["void", -cents.kept, null],
    ]);
  }
});

test.serial("INVALID_REQUEST: the wrong way round, too long, or no days; NOT_FOUND", async (t) => {
  const user_id = await makeTrader();
  for (const [from_day, to_day] of [
    ["2040-01-02", "2040-01-01"],
    ["2040-01-01", "2041-01-01"],
    ["-infinity", "2040-01-01"],
    ["2040-01-01", "infinity"],
    [null, "2040-01-01"],
    ["2040-01-01", null],
  ]) {
    const asked = operate("statement", { user_id, from_day, to_day });
    await t.throwsAsync(asked, { code: "EX001" }, `${from_day} ${to_day}`);
  }
  await operate("statement", { user_id, from_day: "2040-01-01", to_day: "2040-12-31" });
  const nobody = "01900000-0000-7000-8000-000000000000";
  await t.throwsAsync(
    operate("statement", { user_id: nobody, from_day: "2040-01-01", to_day: "2040-01-01" }),
    { code: "EX017" },
  );
});
