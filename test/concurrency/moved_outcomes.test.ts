import test from "ava";
import { contend, failure, neverDeadlocked } from "../helpers/exchange/contention.ts";
import { buy, sell } from "../helpers/exchange/orders.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { effort, randomFrom } from "../helpers/random.ts";

/** The YES of an exclusive event is given and moved while its traders do other things. */

const exchange = testExchange(test, { sessions: 20 });
const { balance, makeMarket, makeMarketWith, makeTraders, operate, split, verify } = exchange;

const CASH = 100_000;
const SETS = 20;

/** An exclusive event of four markets, and traders with sets of each, in any order. */
async function makeWorld() {
  const event: string = await operate("create_event", {
    ...{ title: "Who wins?", category: "tests", exclusive: true },
  });
  const markets: string[] = [];
  while (markets.length < 4) markets.push(await makeMarket({ event_id: event }));
  const traders = await makeTraders(5, { cents: CASH });
  const elsewhere = await makeMarket();
  for (const market of [...markets, elsewhere]) {
    for (const trader of traders) await split(market, trader, SETS);
  }
  return { event, markets, traders, elsewhere };
}

const resolve = (market_id: string, outcome: string) =>
  operate("resolve_market", { market_id, outcome });
const correct = (market_id: string) =>
  operate("correct_resolution", { market_id, outcome: "yes", reason: "a mistake" });

test("a YES beside converts, redeems, orders and openings: nothing is traded after it", async (t) => {
  const contention = contend(exchange);
  const { anyOf, shuffled } = randomFrom("a yes among trades");
  const codes = new Set<string>();
  for (let round = 0; round < effort(12); round++) {
    const { event, markets, traders } = await makeWorld();
    const [winner, ...others] = shuffled(markets) as [string, string, string, string];
    const [ann, bob, cid, dan] = shuffled(traders) as [string, string, string, string];
    const market = anyOf(others);
    await contention.place(market, cid, sell("yes", 5, 40));
    const open = () => failure(operate("set_market_status", { market_id: market, status: "open" }));
    const [, converted, redeemed, placed] = await contention.together([
      () => resolve(winner, "yes"),
      () => exchange.convert(event, ann, others.slice(0, 2), 3),
      () => exchange.redeem(event, bob, 2),
      () => contention.place(market, dan, buy("yes", 5, 40)),
      open,
    ] as const);
    for (const { code } of [converted, redeemed, placed]) {
      t.true([null, "MARKET_NOT_OPEN"].includes(code), code ?? "");
      codes.add(code ?? "done");
    }
    for (const other of others) t.is((await exchange.market(other)).status, "closed");
    t.is((await exchange.orders(cid, { market, status: "open" })).data.length, 0);
    for (const other of others) await resolve(other, "no");
    // Each conversion is worth what it gave, for each outcome: only the trade moves cash.
    t.is(await balance(ann), CASH - 100 * SETS);
    t.is(await balance(bob), CASH - 100 * SETS);
    t.is(await balance(cid), CASH - 100 * SETS + (placed.code === null ? 200 : 0));
  }
  t.deepEqual(await verify(), []);
  t.log([...codes].join(", "));
  neverDeadlocked(t, contention);
});

test("moves of a YES at once, beside withdrawals and orders elsewhere: one YES, no cent lost", async (t) => {
  const contention = contend(exchange);
  const { anyOf, shuffled } = randomFrom("moves at once");
  for (let round = 0; round < effort(12); round++) {
    const { event, markets, traders, elsewhere } = await makeWorld();
    const [first, ...others] = shuffled(markets) as [string, string, string, string];
    const named = shuffled(markets).slice(0, 2);
    for (const trader of traders) await exchange.convert(event, trader, named, 4);
    await exchange.redeem(event, traders[0], 7);
    // Two trades, so that outcomes differ for the traders.
    const [ann, bob, cid] = shuffled(traders) as [string, string, string];
    await contention.place(others[0], ann, sell("yes", 5, 40));
    await contention.place(others[0], bob, buy("yes", 5, 40));
    const held = await Promise.all(
      traders.map(async (trader) => ({
        cash: await balance(trader),
        shares: await Promise.all(
          markets.map(async (market) => ({
            yes: (await exchange.position(market, trader, "yes")).quantity,
            no: (await exchange.position(market, trader, "no")).quantity,
          })),
        ),
      })),
    );
    await resolve(first, "yes");
    for (const other of others) await resolve(other, "no");

    const withdraw = (user_id: string) =>
      failure(operate("withdraw", { user_id, amount_cents: 10, reference: `of ${round}` }));
    const [, , , withdrawn] = await contention.together([
      () => failure(correct(others[0])),
      () => failure(correct(others[1])),
      () => failure(correct(first)),
      () => withdraw(bob),
      () => contention.place(elsewhere, cid, sell("yes", 3, 30)),
      () => contention.place(elsewhere, ann, sell("no", 3, 70)),
      () => exchange.merge(elsewhere, anyOf(traders), 1),
    ] as const);
    t.is(withdrawn, null);

    const { rows } = await exchange.database.pool.query(
      `select public_id from catalog.markets where public_id = any($1) and yes_payout_cents = 100`,
      [markets],
    );
    t.is(rows.length, 1);
    const winner = markets.indexOf(rows[0].public_id);
    const traded = new Set([ann, cid]);
    for (const [at, trader] of traders.entries()) {
      const { cash, shares } = held[at]!;
      const paid = shares.reduce((sum, { yes, no }, i) => sum + 100 * (i === winner ? yes : no), 0);
      const merged = (SETS - (await exchange.position(elsewhere, trader, "no")).quantity) * 100;
      if (traded.has(trader)) continue;
      t.is(await balance(trader), cash + paid + merged - (trader === bob ? 10 : 0));
    }
  }
  t.deepEqual(await verify(), []);
  neverDeadlocked(t, contention);
});

test("the users of both markets are locked in one order, as those of orders are", async (t) => {
  const contention = contend(exchange);
  const event_id: string = await operate("create_event", {
    ...{ title: "Who wins?", category: "tests", exclusive: true },
  });
  const [a, b] = [await makeMarket({ event_id }), await makeMarket({ event_id })];
  const elsewhere = await makeMarket();
  const { rows } = await exchange.database.pool.query(
    "select public_id from trading.traders where public_id = any ($1) order by user_id",
    [await makeTraders(2, { cents: CASH })],
  );
  const [low, high] = rows.map(({ public_id }): string => public_id) as [string, string];
  for (const trader of [low, high]) await split(elsewhere, trader, 100);
  // A move to B settles A first: the user with the higher id before the other one.
  await exchange.giveShares(a, high, "yes", 5);
  await exchange.giveShares(b, low, "yes", 5);
  await resolve(a, "yes");
  await resolve(b, "no");
  const trade = async () => {
    await contention.place(elsewhere, high, sell("yes", 1, 50));
    await contention.place(elsewhere, low, buy("yes", 1, 50));
  };
  for (let round = 0; round < effort(20); round++) {
    await contention.together([
      () => correct(b),
      trade,
      () => contention.place(elsewhere, low, buy("no", 1, 1)),
    ]);
    await correct(a);
  }
  t.is((await exchange.accounts(a)).escrow, 0);
  neverDeadlocked(t, contention);
});

test("two corrections of one market at once: each corrects the one before", async (t) => {
  const contention = contend(exchange);
  for (let round = 0; round < effort(15); round++) {
    const [market_id, ann] = await makeMarketWith(1, { cents: CASH });
    await exchange.giveShares(market_id, ann, "yes", 10);
    const before = await balance(ann);
    await resolve(market_id, "no");
    const pay = (yes_payout_cents: number) => () =>
      operate("correct_resolution", {
        ...{ market_id, outcome: "custom", yes_payout_cents, reason: "a mistake" },
      });
    await contention.together([pay(30), pay(60)]);
    const { yesPayoutCents } = await pay(45)();
    t.is(yesPayoutCents, 45);
    t.is(await balance(ann), before + 450);
  }
  neverDeadlocked(t, contention);
});
