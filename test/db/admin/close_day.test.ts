import test from "ava";
import type { ExecutionContext } from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { inTransaction } from "../../helpers/exchange/held_locks.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** admin.reconcile and admin.close_day: a day's cash beside the bank's, and its books closed. */

const exchange = testExchange(test);
const { clock, makeMarket, makeTraders, operate, place, query, rest } = exchange;

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const startOf = (day: string) => `${day}T00:00:00.000Z`;

type Entry = [reference: unknown, cents: unknown];

async function reconcile(day: unknown, entries: Entry[]): Promise<unknown[][]> {
  const bank = JSON.stringify(
    entries.map(([reference, amount_cents]) => ({ reference, amount_cents })),
  );
  const rows = await query("select * from admin.reconcile(day => $1, bank => $2)", [day, bank]);
  return rows.map((row) => [
    row.reference,
    ...[row.ours_cents, row.bank_cents, row.difference_cents].map(Number),
  ]);
}

async function figures(day: string): Promise<Record<string, Record<string, number>>> {
  const rows = await query("select * from admin.closed_figures where day = $1", [day]);
  const byItem: Record<string, Record<string, number>> = {};
  for (const { item, account_kind, amount_cents } of rows) {
    byItem[item] = { ...byItem[item], [account_kind]: Number(amount_cents) };
  }
  return byItem;
}

const refused = async (t: ExecutionContext, day: unknown, code: string, reason?: string) => {
  await t.throwsAsync(operate("close_day", { day, reason }), { code }, String(day));
};

test.afterEach.always("the clock runs again", () => clock.release());

test.serial("two days are compared with the bank, and closed", async (t) => {
  await clock.freeze(startOf("2040-03-01"));
  const [ann, bob] = await makeTraders(2, { cents: 0 });
  const deposit = (user_id: string, amount_cents: number, reference: string) =>
    operate("deposit", { user_id, amount_cents, reference });
  await deposit(ann, 50_000, "a-1");
  await deposit(bob, 30_000, "b-1");
  await deposit(bob, 700, "b-2");
  await operate("reverse_deposit", { reference: "b-2", reason: "bounced" });
  await operate("withdraw", { user_id: ann, amount_cents: 1000, reference: "a-2" });
  await operate("give_bonus", {
    name: "welcome",
    users: JSON.stringify([{ user_id: ann, amount_cents: 250 }]),
  });
  const market = await makeMarket();
  await rest(market, bob, buy("no", 100, 40));
  await place(market, ann, buy("yes", 100, 60)); // fee 168
  await clock.freeze(startOf("2040-03-02"));
  await operate("pay_out_fees", { amount_cents: 68, reference: "f-1" });
  await operate("resolve_market", { market_id: market, outcome: "yes" });
  await deposit(ann, 9, "a-3");

  // Of the first day: what agrees, what differs, what only the bank has, and what only we have.
  const bank: Entry[] = [
    ["a-1", 50_000],
    ["b-1", 10_000],
    ["b-1", 19_000],
    ["stray", 77],
    ["f-1", -68],
  ];
  t.deepEqual(await reconcile("2040-03-01", bank), [
    ["a-2", -1000, 0, 1000],
    ["b-1", 30_000, 29_000, -1000],
    ["f-1", 0, -68, -68],
    ["stray", 0, 77, 77],
  ]);

  await refused(t, "2040-03-01", "EX019");
  await clock.advance(10 * MINUTE_MS - 1);
  await refused(t, "2040-03-01", "EX019", "too early");
  await clock.advance(1);
  await refused(t, "2040-03-01", "EX019"); // differences, and no reason
  await refused(t, "2040-03-01", "EX001", " ");
  await operate("close_day", { day: "2040-03-01", reason: "the bank looks for b-1" });
  t.deepEqual(await figures("2040-03-01"), {
    opening: { user_cash: 0, market_escrow: 0, fee_revenue: 0, outside_world: 0, event_escrow: 0 },
    deposit: { user_cash: 80_700, outside_world: -80_700 },
    reversal: { user_cash: -700, outside_world: 700 },
    withdrawal: { user_cash: -1000, outside_world: 1000 },
    bonus: { user_cash: 250, outside_world: -250 },
    trade: { user_cash: -10_168, market_escrow: 10_000, fee_revenue: 168 },
    closing: {
      ...{
        user_cash: 69_082,
        market_escrow: 10_000,
        fee_revenue: 168,
        outside_world: -79_250,
        event_escrow: 0,
      },
    },
  });

  await refused(t, "2040-03-01", "EX018", "again");
  await refused(t, "2040-02-29", "EX019"); // not compared
  await refused(t, "2040-03-02", "EX019"); // not over
  await reconcile("2040-03-02", []);
  await clock.advance(2 * DAY_MS);
  await refused(t, "2040-03-02", "EX019", "any"); // not compared since it ended
  await refused(t, "2040-03-03", "EX019"); // not the next one
  t.deepEqual(
    await reconcile("2040-03-02", [
      ["f-1", -68],
      ["a-3", 9],
    ]),
    [],
  );
  await operate("close_day", { day: "2040-03-02" });
  t.deepEqual(await figures("2040-03-02"), {
    opening: {
      ...{
        user_cash: 69_082,
        market_escrow: 10_000,
        fee_revenue: 168,
        outside_world: -79_250,
        event_escrow: 0,
      },
    },
    deposit: { user_cash: 9, outside_world: -9 },
    fee_payout: { fee_revenue: -68, outside_world: 68 },
    settlement: { user_cash: 10_000, market_escrow: -10_000 },
    closing: {
      user_cash: 79_091,
      market_escrow: 0,
      fee_revenue: 100,
      outside_world: -79_191,
      event_escrow: 0,
    },
  });
  const [closed] = await query("select * from admin.closed_days where day = '2040-03-01'");
  t.is(closed.difference_count, 4);
  t.is(closed.bank_entries, 5);
  t.is(closed.reason, "the bank looks for b-1");
  t.deepEqual(await exchange.verify(), []);
});

test.serial("a day that has not ended is too early, compared or not", async (t) => {
  const tooEarly = { code: "EX019", message: /from ten minutes after its end/ };
  await clock.freeze("2040-03-10T12:00:00.000Z");
  const close = () => operate("close_day", { day: "2040-03-10", reason: "any" });
  await t.throwsAsync(close(), tooEarly);
  await reconcile("2040-03-10", []);
  await t.throwsAsync(close(), tooEarly);
  await clock.freeze("2040-03-11T00:09:59.999Z");
  await t.throwsAsync(close(), tooEarly);
  await clock.freeze("2040-03-11T00:10:00.000Z");
  await t.throwsAsync(close(), { code: "EX019", message: /call admin.reconcile/ });
});

test.serial("no day is closed while a transaction of it stays open", async (t) => {
  await clock.freeze("2040-03-03T23:59:00.000Z");
  const [ann, bob] = await makeTraders(2);
  const market = await makeMarket();
  await rest(market, bob, buy("no", 100, 40));
  const day = "2040-03-03";
  const close = () => operate("close_day", { day, reason: "deposits of the test" });
  await inTransaction(exchange, "commit", async (client) => {
    const order = { marketId: market, userId: ann, ...buy("yes", 100, 60) };
    const { rows } = await client.query("select body from api.place_orders($1)", [
      JSON.stringify([order]),
    ]);
    t.regex(rows[0].body, /"fills":\[\{/);
    await clock.freeze("2040-03-04T00:30:00.000Z");
    await reconcile(day, []);
    await t.throwsAsync(close(), { code: "EX019", message: /stays open/ });
  });
  await close();
  t.is((await figures(day)).trade!.user_cash, -10_168, "100 pairs, and a fee of 168");
  t.deepEqual(await exchange.verify(), []);
});

test.serial(
  "INVALID_REQUEST: no day, no array, or an entry without a reference or cents",
  async (t) => {
    for (const day of [null, "infinity"]) {
      await t.throwsAsync(reconcile(day, []), { code: "EX001" });
      await refused(t, day, "EX001");
    }
    for (const bank of [null, "{}", '"x"', "null"]) {
      const asked = operate("reconcile", { day: "2040-01-01", bank });
      await t.throwsAsync(asked, { code: "EX001" }, String(bank));
    }
    for (const entry of [
      [undefined, 1],
      [" ", 1],
      ["x".repeat(201), 1],
      ["x", undefined],
      ["x", 0.5],
      ["x", "1; drop"],
      ["x", 1e15],
    ] as Entry[]) {
      await t.throwsAsync(reconcile("2040-01-01", [entry]), { code: "EX001" }, String(entry));
    }
    t.deepEqual(await query("select * from admin.reconciliations where day = '2040-01-01'"), []);
  },
);

test.serial(
  "fees that a void gave back after they were paid out come back by the bank",
  async (t) => {
    await clock.freeze("2040-03-20T12:00:00.000Z");
    const [ann, bob] = await makeTraders(2, { cents: 0 });
    const market = await makeMarket();
    for (const user_id of [ann, bob]) {
      await operate("deposit", { user_id, amount_cents: 50_000, reference: "in" });
    }
    await rest(market, bob, buy("no", 100, 40));
    await place(market, ann, buy("yes", 100, 60)); // fee 168
    // All fees, since those of another market may be taken first.
    const [{ cents }] = await query(
      "select sum(f.revenue_cents)::int as cents from trading.market_state as f",
    );
    await operate("pay_out_fees", { amount_cents: cents, reference: "fees" });
    const bank: Entry[] = [
      ["in", 100_000],
      ["fees", -cents],
    ];
    t.deepEqual(await reconcile("2040-03-20", bank), []);
    await operate("void_market", { market_id: market, reason: "palpable error" });
    const [{ void_key: key }] = await query(
      "select v.void_key from admin.voids as v where v.market_id = $1",
      [market],
    );
    // Ann gets her fee back.
    t.deepEqual(await reconcile("2040-03-20", bank), [[`void ${key}`, 168, 0, -168]]);
    t.deepEqual(await reconcile("2040-03-20", [...bank, [`void ${key}`, 168]]), []);
  },
);
