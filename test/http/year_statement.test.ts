import test from "ava";
import { testClock } from "../helpers/database/test_clock.ts";
import { testService } from "../helpers/http/test_service.ts";
import { makeMember } from "../helpers/http/visitor.ts";

/** GET /api/account/value and /api/account/year-statement: an account at the end of each day, and of a year. */

const service = testService(test, { playMoneyCents: 100_000 });
const { call, makeMarket, makeTrader, operate } = service;

const DAY_MS = 86_400_000;

test.serial("a user sees days that are over, from the first one of the account", async (t) => {
  const clock = testClock(service.database.pool);
  await clock.freeze("2030-01-05T12:00Z");
  const { visitor } = await makeMember(service);
  const value = (query = "") => visitor.call("GET", `/api/account/value${query}`);
  t.deepEqual((await value()).body, { data: [] });
  await clock.freeze("2030-01-07T00:10Z");
  const valueSome = "select jobs.value_accounts() as done";
  while ((await service.worker.query(valueSome)).rows[0].done > 0);
  const rows = ["2030-01-05", "2030-01-06"].map((day) => ({
    ...{ day, balanceCents: 100_000, exitCents: 0, depositsCents: 100_000 },
  }));
  t.deepEqual((await value()).body, { data: rows });
  t.deepEqual((await value("?from=2030-01-06&to=2031-01-06")).body, { data: rows.slice(1) });
  t.deepEqual((await value("?to=2030-01-05")).body, { data: rows.slice(0, 1) });
  await clock.advance(DAY_MS);
  t.is((await value()).body.data.length, 2, "the job has not run");
});

test.serial(
  "400 INVALID_REQUEST: a range that is none, is too long, or has other days",
  async (t) => {
    const { visitor } = await makeMember(service);
    for (const query of [
      "from=2030-01-02&to=2030-01-01",
      "from=2030-01-01&to=2031-01-02",
      "from=2030-02-30",
      "from=0000-01-01",
      "to=2030-01-01T00:00:00Z",
      "to=infinity",
    ]) {
      const { status, body } = await visitor.call("GET", `/api/account/value?${query}`);
      t.deepEqual([status, body.code], [400, "INVALID_REQUEST"], query);
    }
  },
);

test.serial(
  "a year has its balances, its movements by kind, and each market's result",
  async (t) => {
    const clock = testClock(service.database.pool);
    const kept = { day_cents: null, week_cents: null, month_cents: null };
    const pays = (user_id: string, amount_cents: number, reference: string) =>
      operate("deposit", { user_id, amount_cents, reference });

    await clock.freeze("2030-12-30T12:00Z");
    const { visitor, person, userId } = await makeMember(service);
    await operate("set_loss_limits", { user_id: userId, ...kept });
    const name = "the user";
    const key: string = await operate("create_api_key", { user_id: userId, name });
    const maker = await makeTrader();
    const [first, second] = [
      await makeMarket({ title: "A: will it hold?" }),
      await makeMarket({ title: "B: will it turn?" }),
    ];
    const order = (marketId: string, by: string, body: object) =>
      call("POST", "/api/v1/orders", { key: by, body: { marketId, ...body } });
    // 10 YES at 40: 400, and 7% of 10 x 0.40 x 0.60 is 16.8 cents, rounded up.
    await order(first, maker.key, { side: "no", price: 60, quantity: 10 });
    t.is((await order(first, key, { side: "yes", price: 40, quantity: 10 })).body.feeCents, 17);

    // The first moment of the next year.
    await clock.freeze("2031-01-01T00:00Z");
    await pays(userId, 5000, "new year");
    // 4 of them are sold at 70: 280 less 6 (5.88) of fee, less 160 of cost and 7 (6.8) of buy fees.
    await order(first, maker.key, { side: "yes", price: 70, quantity: 4 });
    const sale = { side: "yes", orderType: "sell", price: 70, quantity: 4 };
    t.is((await order(first, key, sale)).body.feeCents, 6);
    // 5 NO at 20 as a maker, without a fee: they lose all.
    await order(second, key, { side: "no", price: 20, quantity: 5 });
    await order(second, maker.key, { side: "yes", price: 80, quantity: 5 });
    await operate("resolve_market", { market_id: second, outcome: "yes" });
    await clock.freeze("2031-12-31T23:59:59.999Z");
    await operate("resolve_market", { market_id: first, outcome: "yes" });
    await clock.freeze("2032-01-01T00:00Z");
    await pays(userId, 1, "too late");

    // The session of two years ago is over.
    const { email, password } = person;
    await visitor.call("POST", "/api/account/sign-in", { body: { email, password } });
    const statement = (year: number) =>
      visitor.call("GET", `/api/account/year-statement?year=${year}`);
    const sold = await service.database.pool.query(
      `select sum(p.realised_cents)::int as cents from analytics.daily_trader_results(
       since => '2031-01-01', until => '2032-01-01') as p
     join analytics.users as u on u.user_key = p.user_key where u.user_id = $1`,
      [userId],
    );
    // 240 and 10 or 11 of its fees had been paid for the 6 shares that the resolution pays 600 for.
    const realised = 280 - 6 - 400 - 17 + 600;
    t.deepEqual((await statement(2031)).body, {
      year: 2031,
      openingCents: 100_000 - 417,
      closingCents: 100_000 - 417 + 5000 + 274 - 100 + 600,
      feeCents: 6,
      realisedCents: realised - 100,
      movements: [
        { kind: "deposit", count: 1, amountCents: 5000 },
        { kind: "settlement", count: 1, amountCents: 600 },
        { kind: "trade", count: 2, amountCents: 174 },
      ],
      markets: [
        {
          ...{ marketId: first, marketTitle: "A: will it hold?" },
          ...{ feeCents: 6, realisedCents: realised },
        },
        {
          ...{ marketId: second, marketTitle: "B: will it turn?" },
          ...{ feeCents: 0, realisedCents: -100 },
        },
      ],
    });
    t.is(sold.rows[0].cents, realised - 100, "as analysts see it");

    const before = (await statement(2030)).body;
    t.deepEqual([before.openingCents, before.closingCents], [0, 100_000 - 417]);
    t.deepEqual([before.feeCents, before.realisedCents], [17, 0]);
    const none = { openingCents: 0, closingCents: 0, feeCents: 0, realisedCents: 0 };
    t.deepEqual((await statement(2029)).body, { year: 2029, ...none, movements: [], markets: [] });

    // A correction on its own day takes back what the resolution had paid, a void what is left.
    await operate("correct_resolution", { market_id: first, outcome: "no", reason: "a mistake" });
    await operate("void_market", { market_id: second, reason: "it never took place" });
    const after = (await statement(2032)).body;
    t.deepEqual(
      after.markets.map((row: { realisedCents: number }) => row.realisedCents),
      [-600, 100],
    );
    const sumOf = (rows: { amountCents: number }[]): number =>
      rows.reduce((sum, { amountCents }) => sum + amountCents, 0);
    const moved = sumOf(after.movements);
    t.is(Number(after.openingCents) + moved, after.closingCents);
    const entries = await visitor.call(
      "GET",
      "/api/v1/me/statement?from=2032-01-01T00:00:00Z&to=2033-01-01T00:00:00Z&limit=200",
      { key },
    );
    t.is(sumOf(entries.body.data), moved);

    // Voids give fees back: 17 of 10 at 40, 7 (6.72) of 4 at 40, and those of the first market.
    const third = await makeMarket({ title: "C: will it end?" });
    await order(third, maker.key, { side: "no", price: 60, quantity: 14 });
    const take = async (quantity: number) =>
      (await order(third, key, { side: "yes", price: 40, quantity })).body.fills[0].id;
    const trade_id = await take(10);
    await take(4);
    const fees = async () =>
      (await statement(2032)).body.markets.map((row: { feeCents: number }) => row.feeCents);
    t.deepEqual(await fees(), [0, 0, 24]);
    await operate("void_trade", { trade_id, reason: "a mistake" });
    t.deepEqual(await fees(), [0, 0, 7]);
    await operate("void_market", { market_id: third, reason: "a mistake" });
    t.deepEqual(await fees(), [0, 0, 0]);
    await operate("void_market", { market_id: first, reason: "a mistake" });
    t.deepEqual(await fees(), [-17 - 6, 0, 0]);
    t.is((await statement(2032)).body.feeCents, -23);
    const daily = await service.database.pool.query(
      `select sum(r.fee_cents)::int as cents
       from analytics.daily_trader_results(since => '2032-01-01', until => '2033-01-01') as r
       join analytics.users as u using (user_key) where u.user_id = $1`,
      [userId],
    );
    t.is(daily.rows[0].cents, -23, "as analysts see it");
  },
);

test.serial("400 INVALID_REQUEST: no year, or none that can be", async (t) => {
  const { visitor } = await makeMember(service);
  for (const query of ["", "?year=", "?year=1999", "?year=9999", "?year=2031.5", "?year=now"]) {
    const { status, body } = await visitor.call("GET", `/api/account/year-statement${query}`);
    t.deepEqual([status, body.code], [400, "INVALID_REQUEST"], query);
  }
});

test.serial(
  "one user's statements are made one after the other, beside another user's",
  async (t) => {
    const [one, another] = [await makeMember(service), await makeMember(service)];
    const ask = async ({ visitor }: typeof one) =>
      (await visitor.call("GET", "/api/account/year-statement?year=2031")).status;
    /** Statements at work, which wait for the table. */
    const atWork = async (least: number): Promise<number> => {
      for (;;) {
        const { rows } = await service.database.pool.query(
          `select count(*)::int as count from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'
           and query like '%get_year_statement%' and pid <> pg_backend_pid()`,
        );
        if (rows[0].count >= least) return rows[0].count;
      }
    };
    const asked: Promise<number>[] = [];
    const client = await service.database.pool.connect();
    try {
      await client.query("begin");
      await client.query("lock table trading.trades in access exclusive mode");
      for (let count = 0; count < 3; count++) asked.push(ask(one));
      t.is(await atWork(1), 1);
      asked.push(ask(another));
      await atWork(2);
      // What was asked before has come to the database by now, if it was to come.
      for (let count = 0; count < 3; count++) await another.visitor.call("GET", "/api/account");
      t.is(await atWork(2), 2);
    } finally {
      await client.query("rollback");
      client.release();
    }
    t.deepEqual(await Promise.all(asked), [200, 200, 200, 200]);
  },
);
