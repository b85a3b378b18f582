import { randomUUID } from "node:crypto";
import { contend } from "../../../helpers/exchange/contention.ts";
import { keyedCommands, newKey } from "../../../helpers/exchange/keyed_commands.ts";
import type { Exchange } from "../../../helpers/exchange/test_exchange.ts";
import { buy, ioc, sell, spend } from "../../../helpers/exchange/orders.ts";
import { convertALittle } from "./conversions.ts";
import { undoALittle } from "./voids.ts";

/** A history that has something of everything, for the damages to break. */

const DAY_MS = 86_400_000;

/** The internal ids of what the damages name. */
export type Named = Record<string, number>;

export async function tradeALittle(exchange: Exchange): Promise<Named> {
  const { cancel, clock, database, makeMarket, makeMarketWith, operate, place, rest, work } =
    exchange;
  const [market, ann, ben, cem, dan] = await makeMarketWith(4);
  const orders: Record<string, string> = {};
  const one = async (...[trader, request]: [string, Parameters<typeof place>[2]]) =>
    (await place(market, trader, request)).order.id;

  // A maker that is filled by a taker, which then rests and is a maker itself.
  [orders.filled] = await rest(market, ann, buy("no", 10, 40));
  orders.taker = await one(ben, buy("yes", 12, 60));
  orders.taker_and_maker = orders.taker;
  [orders.resting] = await rest(market, ann, buy("no", 10, 30));
  await place(market, dan, buy("no", 2, 40));

  // Orders for the archive, and orders that are cancelled since.
  await cancel(ann, (await rest(market, ann, buy("no", 10, 20)))[0]);
  await cancel(ann, (await rest(market, ann, buy("no", 10, 10)))[0]);
  await relay(exchange);
  await clock.advance(30 * DAY_MS);
  await work("archive_orders");
  [orders.cancelled] = await rest(market, ann, buy("no", 10, 20));
  await cancel(ann, orders.cancelled);
  const expiresAt = new Date(Date.now() + 30 * DAY_MS + 3_600_000).toISOString();
  [orders.expired] = await rest(market, ann, buy("no", 1, 5, { expiresAt }));
  await clock.advance(2 * 3_600_000);
  await work("expire_orders");

  // Two reductions; complete sets; sales of what sets and a trade have brought.
  [orders.reduced] = await rest(market, ann, buy("no", 10, 3));
  await exchange.amend(ann, orders.reduced, { quantity: 8 });
  await exchange.amend(ann, orders.reduced, { quantity: 6 });
  await exchange.split(market, dan, 7);
  await exchange.merge(market, dan, 2);
  await exchange.split(market, cem, 1);
  [orders.sold_to] = await rest(market, ann, buy("yes", 4, 50));
  orders.first_sale = await one(dan, sell("yes", 3, 50));
  orders.second_sale = await one(dan, sell("yes", 1, 50));
  [orders.second_of_two] = await rest(market, ann, buy("yes", 1, 50));
  await place(market, dan, sell("yes", 1, 50));

  // Another fee for the category, a budget, and an order that takes from two makers.
  await operate("set_fee_schedule", { taker_rate_bps: 300, category: "tests" });
  await clock.advance(3_600_000);
  await rest(market, ann, buy("no", 5, 45));
  orders.budget = await one(ben, spend("yes", 300));
  await rest(market, ann, buy("no", 5, 46));
  await rest(market, cem, buy("no", 5, 44));
  orders.sweep = await one(ben, buy("yes", 8, 56, ioc));
  await rest(market, cem, buy("yes", 1, 40));

  // A live market: an order that was released and took, one that rests, and one that waits.
  const { market: live } = await exchange.makeLiveMarket();
  const { order: maker } = await place(live, ann, buy("no", 4, 50));
  const { order: taker } = await place(live, ben, buy("yes", 3, 50));
  orders.released_taker = taker.id;
  orders.blocked = (await place(live, ann, buy("yes", 1, 50))).order.id;
  orders.unfilled = (await place(live, ben, buy("yes", 1, 9, ioc))).order.id;
  await clock.advance(5000);
  await exchange.release(live);
  orders.released = maker.id;
  orders.waiting = (await place(live, ben, buy("yes", 1, 10))).order.id;

  // Orders that were cancelled in their delay, by an amendment, and for want of liquidity.
  orders.taken_back = (await place(live, ben, buy("yes", 1, 10))).order.id;
  await cancel(ben, orders.taken_back);
  orders.budget_taken_back = (await place(live, ben, spend("yes", 300))).order.id;
  await cancel(ben, orders.budget_taken_back);
  const thin = await makeMarket();
  [orders.amended] = await rest(thin, ann, buy("no", 5, 20));
  await exchange.amend(ann, orders.amended, { price: 21 });
  orders.cut_short = (await place(thin, ben, buy("yes", 8, 79, ioc))).order.id;
  await operate("deposit", { user_id: dan, amount_cents: 100, reference: "one more" });
  await operate("give_bonus", {
    name: "welcome",
    users: JSON.stringify([dan, cem].map((user_id) => ({ user_id, amount_cents: 40 }))),
  });
  const adjustment = {
    user_id: dan,
    amount_cents: -30,
    reference: "ticket 1",
    reason: "a mistake",
  };
  await operate("adjust_balance", adjustment);
  await operate("deposit", { user_id: dan, amount_cents: 70, reference: "not covered" });
  await operate("reverse_deposit", { reference: "not covered", reason: "charged back" });
  await operate("pay_out_fees", { amount_cents: 20, reference: "transfer 1" });

  await convertALittle(exchange);

  // A resolution that is corrected after a winner has taken the money out.
  const resolved = await makeMarket();
  await rest(resolved, ann, buy("yes", 20, 55, { idempotencyKey: randomUUID() }));
  await place(resolved, ben, buy("no", 10, 45));
  await rest(resolved, ann, buy("no", 4, 35));
  await place(resolved, ben, sell("no", 4, 35));
  await rest(resolved, ann, buy("no", 10, 40));
  await place(resolved, cem, buy("yes", 10, 60));
  await operate("resolve_market", { market_id: resolved, outcome: "yes" });
  const amount_cents = await exchange.balance(cem);
  await operate("withdraw", { user_id: cem, amount_cents, reference: "all" });
  await operate("correct_resolution", {
    market_id: resolved,
    outcome: "custom",
    yes_payout_cents: 20,
    reason: "a mistake",
  });

  await undoALittle(exchange);

  // Commands with keys, and a switch that fires and has not cancelled its user's order yet.
  const commands = keyedCommands(exchange, contend(exchange));
  await commands.run("split", ann, { marketId: market, quantity: 3 }, newKey());
  [orders.cancelled_once] = await rest(thin, ann, buy("no", 1, 2));
  await commands.run("cancel", ann, { orderId: orders.cancelled_once }, newKey());
  await commands.placeBatch(ann, [{ marketId: thin, ...buy("no", 1, 3) }], newKey());
  await rest(thin, dan, buy("no", 1, 4));
  await commands.setDeadMan(dan, 1000);
  await clock.advance(1000);
  await database.pool.query("select jobs.due_dead_man_orders()");
  await relay(exchange);
  return {
    ...(await namesOf(exchange, { market, live, resolved, ann, dan })),
    ...(await ids(exchange, orders)),
  };
}

/** Sends all events. */
async function relay({ database }: Exchange): Promise<void> {
  for (let count = 1; count > 0;) {
    const { rows } = await database.pool.query("select api.relay_outbox() as count");
    count = rows[0].count;
  }
}

async function namesOf(
  { database }: Exchange,
  { market, live, resolved, ann, dan }: Record<string, string>,
): Promise<Named> {
  const { rows } = await database.pool.query(
    `select
       b.market_id as market, u.id as ann, ledger.user_account_id(u.id) as account,
       ledger.escrow_account_id(b.market_id) as escrow,
       (select id from catalog.markets where public_id = $3) as live,
       (select id from catalog.markets where public_id = $4) as resolved,
       (select id from identity.users where public_id = $5) as dan,
       (select max(id) from trading.resolutions) as correction
     from trading.market_state as b, identity.users as u
     where b.market_id = (select id from catalog.markets where public_id = $1)
       and u.public_id = $2`,
    [market, ann, live, resolved, dan],
  );
  return rows[0];
}

async function ids({ database }: Exchange, orders: Record<string, string>): Promise<Named> {
  const { rows } = await database.pool.query(
    "select public_id, id from trading.orders where public_id = any ($1)",
    [Object.values(orders)],
  );
  const found = new Map(rows.map((row) => [row.public_id, Number(row.id)]));
  return Object.fromEntries(Object.entries(orders).map(([name, id]) => [name, found.get(id)!]));
}
