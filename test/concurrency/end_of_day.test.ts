import test from "ava";
import type { PoolClient } from "pg";
import { withClient } from "../helpers/database/test_database.ts";
import { inTransaction, isWaiting, lockUser } from "../helpers/exchange/held_locks.ts";
import { buy, placeOrders } from "../helpers/exchange/orders.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { until } from "../helpers/until.ts";

/** A day (UTC) ends while commands that move cash are under way. */

const exchange = testExchange(test, { sessions: 20 });
const { balance, clock, giveShares, makeMarket, makeTrader, makeTraders, merge, rest, split } =
  exchange;

const DAY_MS = 86_400_000;

test.afterEach.always("the clock runs again", () => clock.release());

const rowsOf = async (query: string, values: unknown[] = []) =>
  (await exchange.database.pool.query(query, values)).rows;

const deposit = (client: PoolClient, user: string, cents: number, reference: string) =>
  client.query("select admin.deposit(user_id => $1, amount_cents => $2, reference => $3)", [
    ...[user, cents, reference],
  ]);

/** Opening balance, movements and closing balance of one day. */
async function statement(user: string, day: string): Promise<[number, number[], number]> {
  const rows = await rowsOf("select * from admin.statement($1, $2, $2)", [user, day]);
  const cents = (of: string) => Number(rows.find(({ kind }) => kind === of).balance_cents);
  const movements = rows.filter(({ kind }) => kind !== "opening" && kind !== "closing");
  const moved = movements.map(({ amount_cents }) => Number(amount_cents));
  return [cents("opening"), moved, cents("closing")];
}

interface Command {
  name: string;
  /** A part of its text in the database. */
  query: string;
  /** What it moves on the account of its user. */
  cents: number;
  give: (user: string, market: string) => Promise<unknown>;
}

const commands: Command[] = [
  {
    ...{ name: "an order", query: "api.place_orders", cents: -52 },
    give: (user, market) => order(user, market),
  },
  {
    ...{ name: "a split", query: "api.run_command", cents: -100 },
    give: (user, market) => split(market, user, 1),
  },
  {
    ...{ name: "a merge", query: "api.run_command", cents: 100 },
    give: (user, market) => merge(market, user, 1),
  },
];

const order = (userId: string, marketId: string, price?: number) =>
  withClient(exchange.api, (client) =>
    placeOrders(client, [{ userId, marketId, ...buy("yes", 1, price) }]),
  );

let year = 2040;

/** A command waits over midnight for its user, who gets 700 cents on the new day. */
async function waitOverMidnight(give: Command["give"], query: string) {
  const day = `${++year}-03-01`;
  await clock.freeze(`${day}T12:00:00Z`);
  const [user, maker] = await makeTraders(2, { limits: [null, null, null] });
  const market = await makeMarket();
  await giveShares(market, user, "yes", 1);
  await giveShares(market, user, "no", 1);
  await rest(market, maker, buy("no", 1, 50));
  const before = await balance(user);
  await clock.freeze(`${day}T23:59:59.500Z`);
  let given: Promise<unknown> | undefined;
  await inTransaction(exchange, "commit", async (holder) => {
    await lockUser(holder, user);
    given = give(user, market);
    await until("the command waits", () => isWaiting(exchange, query));
    await clock.advance(1000);
    await deposit(holder, user, 700, `at midnight of ${day}`);
  });
  const nextDay = new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
  return { before, day, given: given!, market, nextDay, user };
}

for (const { cents, give, name, query } of commands) {
  test.serial(`${name} waits over midnight, and moves cash on the new day`, async (t) => {
    const { before, day, given, market, nextDay, user } = await waitOverMidnight(give, query);
    // It had no effect. A server sends it again.
    await t.throwsAsync(given, { code: "40001", message: /day .* has ended/ });
    t.is(await balance(user), before + 700);
    await give(user, market);
    const [, , closing] = await statement(user, day);
    t.is(closing, before);
    t.deepEqual(await statement(user, nextDay), [before, [700, cents], before + 700 + cents]);
  });
}

test.serial(
  "an order of the fast path waits over midnight, and goes the general way",
  async (t) => {
    const { before, given, nextDay, user } = await waitOverMidnight(
      (owner, market) => order(owner, market, 50),
      "api.place_orders",
    );
    await given;
    t.deepEqual(await statement(user, nextDay), [before, [700, -52], before + 700 - 52]);
  },
);

test.serial("with a clock that is set back, cash moves on the later day", async (t) => {
  const day = `${++year}-03-01`;
  await clock.freeze(`${day}T00:00:01Z`);
  const [market, user, maker] = [await makeMarket(), await makeTrader(), await makeTrader()];
  await clock.advance(-2000);
  await rest(market, maker, buy("no", 1, 50));
  const before = await balance(user);
  await exchange.place(market, user, buy("yes", 1, 50));
  t.is(await balance(user), before - 52);
});

test.serial("a deposit that is not committed is waited for before a day is compared", async (t) => {
  const day = `${++year}-03-01`;
  await clock.freeze(`${day}T23:59:00Z`);
  const user = await makeTrader({ cents: 0 });
  let compared: ReturnType<typeof rowsOf> | undefined;
  await inTransaction(exchange, "commit", async (holder) => {
    await deposit(holder, user, 555, "late");
    await clock.advance(DAY_MS);
    compared = rowsOf("select * from admin.reconcile($1, '[]')", [day]);
    await until("it waits", () => isWaiting(exchange, "admin.reconcile"));
  });
  const late = (await compared!).map(({ reference, ours_cents }) => [
    ...[reference, Number(ours_cents)],
  ]);
  t.deepEqual(late, [["late", 555]]);
});
