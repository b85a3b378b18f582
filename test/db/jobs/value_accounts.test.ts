import test from "ava";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { rowsHandled, rowsRead } from "../../helpers/database/plans.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { createExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../../helpers/exchange/test_exchange.ts";
import { inTransaction } from "../../helpers/exchange/held_locks.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";
import { DAY_MS, daysOfAnalysts, nameOf, valueOf, valueSome } from "./account_days.ts";

/** jobs.value_accounts and api.get_account_value: accounts at the end of each UTC day. */

const MINUTE_MS = 60_000;
const INVALID_REQUEST = "EX001";
const FIRST_DAY = Date.parse("2030-01-01T00:00Z");
const NOON = "2030-01-01T12:00Z";

/** Each test moves the clock, so each has an exchange. */
function onExchange(title: string, work: (exchange: Exchange, t: any) => Promise<void>) {
  test(title, async (t) => {
    const exchange = await createExchange();
    try {
      await work(exchange, t);
      t.deepEqual(await exchange.verify(), []);
    } finally {
      await exchange.database.drop();
    }
  });
}

const endOf = (number: number): number => FIRST_DAY + number * DAY_MS;
const dayNumber = (number: number): string => nameOf(endOf(number - 1));

onExchange("three missed days are caught up, each as it was", async (exchange, t) => {
  const { cancel, clock, giveShares, makeMarket, makeTraders, place, rest, work } = exchange;
  await clock.freeze(NOON);
  const [market, other] = [await makeMarket(), await makeMarket()];
  const [ann, maker] = await makeTraders(2);
  await giveShares(market, ann, "yes", 10);
  const [first] = await rest(market, maker, buy("yes", 4, 45), buy("yes", 4, 35));
  await place(market, ann, sell("yes", 1, 45));

  // After the first day: an order that was filled in part is cancelled, the next one is filled.
  await clock.freeze(new Date(endOf(1) + MINUTE_MS));
  await cancel(maker, first);
  await place(market, ann, sell("yes", 4, 35));
  const expiresAt = new Date(endOf(2)).toISOString();
  await rest(market, maker, buy("yes", 5, 30, { expiresAt }), buy("yes", 5, 25));
  // After the second day the bid at 30 has expired, but still rests. NO of the other market has no bid.
  await clock.freeze(new Date(endOf(2) + MINUTE_MS));
  await giveShares(other, ann, "no", 3);
  // After the third day: the last bid is cancelled, and there is a better one.
  await clock.freeze(new Date(endOf(3) + 9 * MINUTE_MS));
  const [last] = (await exchange.orders(maker, { market, status: "open" })).data;
  await cancel(maker, last!.id);
  await rest(market, maker, buy("yes", 5, 99));

  // The day before has ended by less than ten minutes.
  await work("value_accounts");
  t.deepEqual(
    (await valueOf(exchange, ann, dayNumber(1), dayNumber(9))).map(({ day }) => day),
    [dayNumber(1), dayNumber(2)],
  );
  await clock.advance(MINUTE_MS);
  t.is(await valueSome(exchange, 1000), 1, "the bids of the third day");
  t.is((await valueOf(exchange, ann, dayNumber(3), dayNumber(3))).length, 0, "not finished");
  await work("value_accounts");
  t.is(await work("value_accounts"), 0);
  const value = await valueOf(exchange, ann, dayNumber(1), dayNumber(9));
  t.deepEqual(
    value.map(({ day, exitCents }) => [day, exitCents]),
    [
      [dayNumber(1), 9 * 45],
      [dayNumber(2), 5 * 30],
      [dayNumber(3), 5 * 25],
    ],
  );
  t.deepEqual(value, (await daysOfAnalysts(exchange, dayNumber(1), dayNumber(4))).get(ann));
});

onExchange("a void and a correction of a later day change no past day", async (exchange, t) => {
  const { clock, makeMarket, makeTraders, operate, place, rest, work } = exchange;
  await clock.freeze(NOON);
  const [voided, corrected] = [await makeMarket(), await makeMarket()];
  const [ann, bob] = await makeTraders(2);
  for (const market of [voided, corrected]) {
    await rest(market, bob, buy("no", 10, 40), buy("yes", 1, 50));
    await place(market, ann, buy("yes", 10, 60));
  }
  await clock.freeze(new Date(endOf(1) + 11 * MINUTE_MS));
  await operate("resolve_market", { market_id: corrected, outcome: "yes" });
  await operate("void_market", { market_id: voided, reason: "no answer" });
  await clock.advance(DAY_MS);
  await operate("correct_resolution", { market_id: corrected, outcome: "no", reason: "a mistake" });
  await operate("void_market", { market_id: corrected, reason: "no answer" });
  // The job comes after all of it.
  await clock.advance(DAY_MS);
  await work("value_accounts");
  const paid = 2 * (600 + 17); // a fee of 16.8 each
  t.deepEqual(await valueOf(exchange, ann, dayNumber(1), dayNumber(3)), [
    {
      ...{ day: dayNumber(1), balanceCents: 100_000 - paid, exitCents: 2 * 10 * 50 },
      depositsCents: 100_000,
    },
    {
      ...{ day: dayNumber(2), balanceCents: 100_000 - paid / 2 + 1000, exitCents: 0 },
      depositsCents: 100_000,
    },
    { day: dayNumber(3), balanceCents: 100_000, exitCents: 0, depositsCents: 100_000 },
  ]);
});

onExchange("an account has a row for each day from its first one on", async (exchange, t) => {
  const { clock, makeTrader, work } = exchange;
  await clock.freeze(NOON);
  const ann = await makeTrader({ cents: 70 });
  await clock.advance(2 * DAY_MS);
  const bob = await makeTrader({ cents: 80 });
  await clock.advance(40 * DAY_MS);
  await work("value_accounts");
  // The job went back by 30 days: those before were never valued.
  const last = 42;
  const daysOf = async (since?: string, until?: string) =>
    (await valueOf(exchange, ann, since, until)).map(({ day }) => day);
  const usual = Array.from({ length: 30 }, (_, index) => dayNumber(last - 29 + index));
  t.deepEqual(await daysOf(), usual);
  t.deepEqual(await daysOf(dayNumber(1), dayNumber(100)), usual);
  t.deepEqual(await daysOf(undefined, dayNumber(20)), usual.slice(0, 8));
  t.deepEqual(await daysOf(dayNumber(40)), usual.slice(-3));
  t.deepEqual((await valueOf(exchange, ann))[0], {
    ...{ day: usual[0], balanceCents: 70, exitCents: 0, depositsCents: 70 },
  });
  const carol = await makeTrader({ cents: 90 });
  t.deepEqual(await valueOf(exchange, carol), []);
  await clock.advance(DAY_MS);
  await work("value_accounts");
  const row = { day: dayNumber(last + 1), balanceCents: 90, exitCents: 0, depositsCents: 90 };
  t.deepEqual(await valueOf(exchange, carol), [row]);
  t.is((await valueOf(exchange, bob)).length, 30);
});

for (const returns of ["00:04", "00:12"]) {
  onExchange(
    `after 30 days no day is valued without archived bids: ${returns}`,
    async (exchange, t) => {
      const { cancel, clock, giveShares, makeMarketWith, rest, work } = exchange;
      await clock.freeze(NOON);
      const [market, ann, bob] = await makeMarketWith(2);
      await giveShares(market, ann, "yes", 10);
      const [high] = await rest(market, bob, buy("yes", 5, 40), buy("yes", 5, 20));
      // The best bid goes when the first day has ended, by two minutes.
      await clock.freeze(new Date(endOf(1) + 2 * MINUTE_MS));
      await cancel(bob, high);
      await clock.freeze(`${dayNumber(32)}T${returns}:00Z`);
      await work("archive_orders");
      await work("value_accounts");
      await clock.advance(DAY_MS / 2);
      await work("value_accounts");
      t.deepEqual(
        (await valueOf(exchange, ann, dayNumber(1), dayNumber(31))).map(({ day, exitCents }) => [
          ...[day, exitCents],
        ]),
        Array.from({ length: 30 }, (_, index) => [dayNumber(index + 2), 10 * 20]),
      );
    },
  );
}

onExchange("INVALID_REQUEST: to before from, and more than 366 days", async (exchange, t) => {
  await exchange.clock.freeze(NOON);
  const ann = await exchange.makeTrader();
  for (const [since, until] of [
    ["2030-01-02", "2030-01-01"],
    ["2029-01-01", "2030-01-02"],
    ["2028-01-01", undefined],
  ] as const) {
    const error: any = await t.throwsAsync(valueOf(exchange, ann, since, until), {
      code: INVALID_REQUEST,
    });
    t.is(error.message, "to: must be no day before from, and at most 365 days later");
  }
  t.deepEqual(await valueOf(exchange, ann, "2029-01-01", "2030-01-01"), []);
});

onExchange("a request reads a few rows a day, and the job what is new", async (exchange, t) => {
  const { cancel, clock, database, giveShares, makeMarketWith, place, rest } = exchange;
  await clock.freeze(NOON);
  const [market, ann, bob] = await makeMarketWith(2);
  await giveShares(market, ann, "yes", 300);
  const days = 25;
  for (let day = 0; day < days; day++) {
    for (let number = 0; number < 10; number++) {
      const [id] = await rest(market, bob, buy("yes", 2, 40));
      await place(market, ann, sell("yes", 1, 40));
      await cancel(bob, id);
    }
    await clock.advance(DAY_MS);
    await exchange.work("value_accounts");
  }
  await database.pool.query("analyze");
  const ofRequest = await rowsRead(
    exchange.api,
    ["trading.exit_values", "ledger.day_openings", "trading.valued_days", "trading.traders"],
    (client) =>
      call(client, api.getAccountValue, {
        ...{ userId: ann, since: dayNumber(days - 9), until: dayNumber(days) },
      }),
  );
  t.true(ofRequest <= 40, `request: ${ofRequest}`);

  // Twelve hours since midnight, with one trade after a month with 250.
  await clock.advance(DAY_MS);
  await rest(market, bob, buy("yes", 1, 40));
  await place(market, ann, sell("yes", 1, 40));
  const handled: number[] = [];
  await withClient(database.pool, async (client) => {
    for (let call = 0; call < 3; call++) {
      handled.push(await rowsHandled(client, "select jobs.value_accounts()"));
    }
  });
  t.true(Math.max(...handled) <= 100, `job: ${handled.join(", ")}`);
  t.is(await valueSome(exchange, 1000), 0);
});

onExchange("a day has no values while a transaction of it stays open", async (exchange, t) => {
  const { clock, makeTrader, work } = exchange;
  await clock.freeze(NOON);
  await makeTrader();
  await inTransaction(exchange, "commit", async (client) => {
    await client.query("select nextval('ledger.journal_ids')"); // as a trade does
    await clock.advance(DAY_MS);
    t.is(await work("value_accounts"), 0);
  });
  t.not(await work("value_accounts"), 0);
});
