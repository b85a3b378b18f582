import { randomUUID } from "node:crypto";
import test from "ava";
import { contend, failure, neverDeadlocked, pairsOf } from "../helpers/exchange/contention.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { buy } from "../helpers/exchange/orders.ts";
import { effort } from "../helpers/random.ts";

/** Bonuses, adjustments, reversals and fee payouts at the same moment as each other, and as trades. */

const exchange = testExchange(test, { sessions: 20 });
const { accounts, balance, makeMarketWith, makeTrader, makeTraders, operate, rest, verify } =
  exchange;

const pair = pairsOf(test, exchange, 15);

const give = (name: string, cents: number, users: string[]): Promise<number> =>
  operate("give_bonus", {
    name,
    users: JSON.stringify(users.map((user_id) => ({ user_id, amount_cents: cents }))),
  });
const payOut = (amount_cents: number) =>
  failure(operate("pay_out_fees", { amount_cents, reference: randomUUID() }));

pair(
  "one bonus is given twice: each user is paid once, by one of the calls",
  ["first", "second"],
  async (contention, t) => {
    const users = await makeTraders(4, { cents: 0 });
    const name = randomUUID();
    const paid = await contention.together([
      () => give(name, 50, users),
      () => give(name, 50, users.toReversed()),
    ] as const);
    t.deepEqual([...paid].sort(), [0, 4]);
    for (const user of users) t.is(await balance(user), 50);
    return paid[0] === 4 ? "first" : "second";
  },
);

pair(
  "two bonuses of one name name some of the same users: nobody is paid twice",
  ["first", "second"],
  async (contention, t) => {
    const [ann, bob, cid] = await makeTraders(3, { cents: 0 });
    const name = randomUUID();
    const paid = await contention.together([
      () => give(name, 50, [ann, bob]),
      () => give(name, 50, [cid, bob]),
    ] as const);
    t.deepEqual([...paid].sort(), [1, 2]);
    for (const user of [ann, bob, cid]) t.is(await balance(user), 50);
    return paid[0] === 2 ? "first" : "second";
  },
);

pair(
  "an adjustment takes what a withdrawal takes: one of the two is refused",
  ["withdrawn", "adjusted"],
  async (contention, t) => {
    const ann = await makeTrader({ cents: 600 });
    const reference = randomUUID();
    const [withdrawn, adjusted] = await contention.together([
      () => failure(operate("withdraw", { user_id: ann, amount_cents: 600, reference })),
      () =>
        failure(
          operate("adjust_balance", {
            ...{ user_id: ann, amount_cents: -600, reference, reason: "a test" },
          }),
        ),
    ] as const);
    t.is(await balance(ann), 0);
    t.deepEqual([withdrawn, adjusted].sort(), ["EX011", null]);
    return withdrawn === null ? "withdrawn" : "adjusted";
  },
);

pair(
  "an adjustment takes what an order would cost: one of the two is refused",
  ["placed", "adjusted"],
  async (contention, t) => {
    const [market, ann, bob] = await makeMarketWith(2, { cents: 1000 });
    await rest(market, bob, buy("no", 10, 50));
    const [placed, adjusted] = await contention.together([
      () => contention.place(market, ann, buy("yes", 10, 50)),
      () =>
        failure(
          operate("adjust_balance", {
            ...{ user_id: ann, amount_cents: -600, reference: randomUUID(), reason: "a test" },
          }),
        ),
    ] as const);
    // 10 at 50 cost 500 and a fee of 17.5, rounded up.
    t.is(await balance(ann), placed.code === null ? 1000 - 518 : 400);
    t.is(adjusted, placed.code === null ? "EX011" : null);
    return placed.code === null ? "placed" : "adjusted";
  },
);

pair(
  "a deposit is reversed twice: it goes back once",
  ["first", "second"],
  async (contention, t) => {
    const ann = await makeTrader({ cents: 100 });
    const reference = randomUUID();
    await operate("deposit", { user_id: ann, amount_cents: 600, reference });
    const reverse = (reason: string) => operate("reverse_deposit", { reference, reason });
    const balances = await contention.together([
      () => reverse("first"),
      () => reverse("second"),
    ] as const);
    t.deepEqual([...balances, await balance(ann)], [100, 100, 100]);
    const { rows } = await exchange.database.pool.query(
      "select reason from ledger.cash_movements where kind = 'reversal' and reference = $1",
      [reference],
    );
    t.is(rows.length, 1);
    return rows[0].reason;
  },
);

pair(
  "a deposit is reversed while it is withdrawn: it is owed, or the withdrawal is refused",
  ["owed", "refused"],
  async (contention, t) => {
    const ann = await makeTrader({ cents: 0 });
    const reference = randomUUID();
    const movement = { user_id: ann, amount_cents: 600, reference };
    await operate("deposit", movement);
    const [withdrawn, reversed] = await contention.together([
      () => failure(operate("withdraw", movement)),
      () => failure(operate("reverse_deposit", { reference, reason: "a test" })),
    ] as const);
    t.is(reversed, null);
    t.is(await balance(ann), withdrawn === null ? -600 : 0);
    return withdrawn === null ? "owed" : "refused";
  },
);

pair(
  "a deposit is reversed while an order spends it: it is owed, or the order is rejected",
  ["placed", "rejected"],
  async (contention, t) => {
    const [market, ann, bob] = await makeMarketWith(2, { cents: 1000 });
    await operate("withdraw", { user_id: ann, amount_cents: 1000, reference: "all" });
    const reference = randomUUID();
    await operate("deposit", { user_id: ann, amount_cents: 600, reference });
    await rest(market, bob, buy("no", 10, 50));
    const [placed, reversed] = await contention.together([
      () => contention.place(market, ann, buy("yes", 10, 50)),
      () => failure(operate("reverse_deposit", { reference, reason: "a test" })),
    ] as const);
    t.is(reversed, null);
    // 10 at 50 cost 500 and a fee of 17.5, rounded up.
    t.is(await balance(ann), placed.code === null ? -518 : 0);
    return placed.code === null ? "placed" : "rejected";
  },
);

// Alone: a payout takes the fees of any market, also of those of the other tests.
test.serial(
  "fees are paid out twice, bonuses given and orders filled at once: every cent adds up",
  async (t) => {
    const contention = contend(exchange);
    const markets = await exchange.makeMarkets(3);
    const [ann, bob] = await makeTraders(2);
    const rounds = effort(12);
    let paidOut = 0;
    for (let round = 0; round < rounds; round++) {
      for (const market of markets) await rest(market, bob, buy("no", 20, 50));
      const pay = (cents: number) => async () => {
        if ((await payOut(cents)) === null) paidOut += cents;
      };
      await contention.together([
        ...markets.map((market) => () => contention.place(market, ann, buy("yes", 20, 50))),
        pay(60),
        pay(25),
        () => give(`round ${round}`, 3, [ann, bob]),
      ]);
    }
    const revenues = await Promise.all(markets.map(accounts));
    // 20 at 50 pay a fee of 35.
    const earned = rounds * markets.length * 35;
    const left = revenues.reduce((sum, { revenue }) => sum + revenue, 0);
    t.true(paidOut > 0);
    t.is(left, earned - paidOut);
    t.is(await balance(ann), 100_000 - rounds * (3 * (1000 + 35) - 3));
    t.deepEqual(await verify(), []);
    neverDeadlocked(t, contention);
  },
);
