import test from "ava";
import fc from "fast-check";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";
import { effort, seed } from "../../helpers/random.ts";

/** admin.void_market: a market becomes as if it had never been. */

const exchange = testExchange(test, { sessions: 20 });
const { accounts, balance, makeMarket, makeMarketWith, makeMarkets, makeTrader, makeTraders } =
  exchange;
const { merge, operate, order, place, placeBatch, position, refusal, rest, split } = exchange;

const voidMarket = (market_id: string, reason: unknown = "the question had two answers") =>
  operate("void_market", { market_id, reason });
const resolve = (market_id: string, outcome: string) =>
  operate("resolve_market", { market_id, outcome });
const shown = async (market_id: string) => {
  const { rows } = await exchange.api.query("select api.get_market_resolution($1) as resolution", [
    market_id,
  ]);
  return rows[0].resolution;
};

const isListedAsUndone = async (market_id: string) => {
  const { rows } = await exchange.database.pool.query(
    "select voided_at is not null as is_undone from admin.markets where market_id = $1",
    [market_id],
  );
  return rows[0].is_undone;
};

/** Ann bought 100 YES from Bob at 60, then sold 50 at 70 to Cem. */
async function makeThree() {
  const [id, ann, bob, cem] = await makeMarketWith(3, { cents: 20_000 });
  await rest(id, bob, buy("no", 100, 40));
  const { fills } = await place(id, ann, buy("yes", 100, 60)); // fee 168
  await rest(id, cem, buy("yes", 50, 70));
  await place(id, ann, sell("yes", 50, 70)); // fee 73.5
  return { id, ann, bob, cem, trade: fills[0]!.id };
}

test("an open market: all get back what they put in, fees too; who is ahead pays back", async (t) => {
  const { id, ann, bob, cem } = await makeThree();
  t.is(await balance(ann), 20_000 - 6000 - 168 + 3500 - 74);
  const [bid] = await rest(id, bob, buy("yes", 5, 30));
  t.false(await isListedAsUndone(id));
  const said = await voidMarket(id);
  t.deepEqual(said, {
    users: 3,
    movedCents: 2742 + 4000 + 3500,
    feeCents: 242,
    usersBelowZero: 0,
  });
  for (const user of [ann, bob, cem]) t.is(await balance(user), 20_000);
  t.deepEqual(await accounts(id), { escrow: 0, revenue: 0 });
  t.deepEqual(await position(id, ann, "yes"), { quantity: 0, cost: 0, fees: 0, realised: 0 });
  t.like(await order(bob, bid), { status: "cancelled", cancelReason: "market_closed" });
  t.like(await exchange.market(id), { status: "resolved", resolvedOutcome: "custom" });
  t.like(await shown(id), { yesPayoutCents: 50, correctedAt: null });
  t.not((await shown(id)).voidedAt, null);
  t.true(await isListedAsUndone(id));
  t.is(await refusal(id, ann, buy("yes", 1, 1)), "MARKET_NOT_OPEN");
  t.is((await merge(id, ann, 1)).code, "MARKET_NOT_OPEN");
});

test("a resolved market, and one whose resolution was corrected: payouts go back as well", async (t) => {
  for (const corrected of [false, true]) {
    const { id, ann, bob, cem } = await makeThree();
    await resolve(id, "yes");
    const resolvedAt = (await shown(id)).resolvedAt;
    if (corrected) {
      await operate("correct_resolution", { market_id: id, outcome: "no", reason: "wrong" });
    }
    t.like(await voidMarket(id), { users: 3, feeCents: 242 });
    for (const user of [ann, bob, cem]) t.is(await balance(user), 20_000);
    t.is((await shown(id)).resolvedAt, resolvedAt);
    t.like(await exchange.market(id), { status: "resolved", resolvedOutcome: "custom" });
    const correction = { market_id: id, outcome: "custom", yes_payout_cents: 1, reason: "wrong" };
    await t.throwsAsync(operate("correct_resolution", correction), {
      code: "EX019",
      message: "The market is voided",
    });
  }
});

test("who has taken the money out owes it", async (t) => {
  const { id, ann, bob, cem } = await makeThree();
  await resolve(id, "no");
  const amount_cents = await balance(bob);
  await operate("withdraw", { user_id: bob, amount_cents, reference: "all" });
  t.like(await voidMarket(id), { usersBelowZero: 1 });
  // He had put 4,000 in, and got 10,000.
  t.is(await balance(bob), -6000);
  t.deepEqual([await balance(ann), await balance(cem)], [20_000, 20_000]);
});

test("trades that were voided before, splits, merges and fees that were paid out", async (t) => {
  const { id, ann, bob, cem } = await makeThree();
  await split(id, bob, 30);
  await merge(id, bob, 30);
  await rest(id, bob, buy("no", 7, 45));
  const { fills } = await place(id, cem, buy("yes", 7, 55));
  await operate("void_trade", { trade_id: fills[0]!.id, reason: "a test" });
  const { revenue } = await accounts(id);
  await operate("pay_out_fees", { amount_cents: revenue, reference: `of ${id}` });
  await voidMarket(id);
  for (const user of [ann, bob, cem]) t.is(await balance(user), 20_000);
});

test("a market without trades is voided, without a journal", async (t) => {
  const id = await makeMarket();
  t.deepEqual(await voidMarket(id), { users: 0, movedCents: 0, feeCents: 0, usersBelowZero: 0 });
  t.not((await shown(id)).voidedAt, null);
});

test("INVALID_STATE: a voided market is neither voided, resolved, corrected nor opened", async (t) => {
  const { id, trade } = await makeThree();
  await voidMarket(id);
  for (const attempt of [
    () => voidMarket(id),
    () => resolve(id, "yes"),
    () => operate("correct_resolution", { market_id: id, outcome: "no", reason: "wrong" }),
    () => operate("set_market_status", { market_id: id, status: "open" }),
    () => operate("void_trade", { trade_id: trade, reason: "a test" }),
  ]) {
    await t.throwsAsync(attempt, { code: "EX019" });
  }
  await t.throwsAsync(resolve(id, "yes"), { message: "The market is voided" });
});

test("INVALID_REQUEST, NOT_FOUND: no reason, no such market", async (t) => {
  const id = await makeMarket();
  for (const reason of [null, "", " ", "x".repeat(1001)]) {
    await t.throwsAsync(voidMarket(id, reason), { code: "EX001", message: /^A reason/ });
  }
  await t.throwsAsync(voidMarket(await makeTrader()), { code: "EX017" });
});

test("a voided market counts toward no loss limit", async (t) => {
  const ann = await makeTrader({ cents: 10_000, limits: [617, null, null] });
  const [id, other] = await makeMarkets(2);
  const bob = await makeTrader();
  for (const market of [id, other]) await rest(market, bob, buy("no", 10, 40));
  await place(id, ann, buy("yes", 10, 60)); // fee 16.8
  t.is(await refusal(other, ann, buy("yes", 1, 60)), "LOSS_LIMIT");
  await voidMarket(id);
  t.is((await place(other, ann, buy("yes", 10, 60))).order.status, "filled");
});

type Step = [kind: string, market: number, trader: number, price: number, quantity: number];

const steps: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom("buy yes", "buy no", "sell yes", "sell no", "split", "merge", "void"),
  fc.nat({ max: 1 }),
  fc.nat({ max: 4 }),
  fc.integer({ min: 35, max: 65 }),
  fc.integer({ min: 1, max: 40 }),
);

test("random histories: the cash of every user is what the trades of the other market say", async (t) => {
  t.timeout(120_000);
  const rounds = effort(8);
  const length = 60;
  const histories = fc.sample(fc.array(steps, { minLength: length, maxLength: length }), {
    seed: seed(),
    numRuns: Math.max(rounds, 20),
  });
  let undone = 0;
  for (const [round, history] of histories.entries()) {
    // However short, a run goes on until a trade was undone.
    if (round >= rounds && undone > 0) break;
    const markets = await makeMarkets(2);
    const traders = await makeTraders(5, { cents: 100_000 });
    // Of the market that stays: what each trader paid and got.
    const moved = new Map(traders.map((trader) => [trader, 0]));
    const trades: {
      id: string;
      taker: string;
      takerCents: number;
      maker: string;
      cents: number;
    }[] = [];
    const move = (trader: string, cents: number) => moved.set(trader, moved.get(trader)! + cents);

    for (const [kind, at, who, price, quantity] of history) {
      const [market, trader] = [markets[at]!, traders[who]!];
      if (kind === "split" || kind === "merge") {
        const { code } = await (kind === "split" ? split : merge)(market, trader, quantity);
        if (code === null && at === 1)
          move(trader, kind === "split" ? -100 * quantity : 100 * quantity);
      } else if (kind === "void") {
        const trade = trades.splice(quantity % Math.max(1, trades.length), 1)[0];
        if (trade === undefined) continue;
        try {
          await operate("void_trade", { trade_id: trade.id, reason: "a test" });
        } catch (error) {
          t.is((error as { code: string }).code, "EX011");
          continue;
        }
        undone += 1;
        move(trade.taker, -trade.takerCents);
        move(trade.maker, -trade.cents);
      } else {
        const [orderType, side] = kind.split(" ") as ["buy" | "sell", "yes" | "no"];
        const request = { side, price, quantity, orderType };
        const [outcome] = await placeBatch(market, [[trader, request]]);
        if (at === 0 || outcome!.answer === null) continue;
        let exact = 0;
        let charged = 0;
        for (const fill of outcome!.answer.fills) {
          // Fees are rounded up over all fills of the order.
          exact += 7 * fill.quantity * fill.price * (100 - fill.price);
          const fee = Math.ceil(exact / 10_000) - charged;
          charged += fee;
          const own = side === "yes" ? fill.price : 100 - fill.price;
          const takerCents = (orderType === "buy" ? -own : own) * fill.quantity - fee;
          const [maker, cents] = await makerOf(fill, trader);
          move(trader, takerCents);
          move(maker, cents);
          trades.push({ id: fill.id, taker: trader, takerCents, maker, cents });
        }
      }
    }
    if (round % 2 === 0) await resolve(markets[0], round % 4 === 0 ? "yes" : "no");
    await voidMarket(markets[0]);
    for (const trader of traders) t.is(await balance(trader), 100_000 + moved.get(trader)!);
    t.deepEqual(await accounts(markets[0]), { escrow: 0, revenue: 0 });
  }
  t.true(undone > 0);
});

/** Who the maker of a fill was, and what the trade paid: by the maker's order, and no fee. */
async function makerOf(
  fill: { id: string; price: number; quantity: number },
  taker: string,
): Promise<[maker: string, cents: number]> {
  const rows = await exchange.query(
    `select u.public_id as maker, o.side, o.order_type as type
     from trading.trades as t
     join trading.orders as o on o.id = t.maker_order_id
     join identity.users as u on u.id = o.user_id
     where t.public_id = $1`,
    [fill.id],
  );
  const { maker, side, type } = rows[0];
  if (maker === taker) throw new Error("a trade with oneself");
  const own = side === "yes" ? fill.price : 100 - fill.price;
  return [maker, (type === "buy" ? -own : own) * fill.quantity];
}
