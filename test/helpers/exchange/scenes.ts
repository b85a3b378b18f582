import { buy, sell } from "./orders.ts";
import { anyLimits, traderName } from "./test_exchange.ts";
import type { Exchange } from "./test_exchange.ts";

/** Orders that several tests begin with. */

/** Five orders of Ann in three markets, one of them scheduled, one filled in part; one of Bob. */
export async function scatterOrders(exchange: Exchange) {
  const { giveShares, makeLiveMarket, makeMarkets, makeTraders, place, rest } = exchange;
  const [one, two] = await makeMarkets(2);
  const { market: live } = await makeLiveMarket();
  const [ann, bob] = await makeTraders(2);
  await giveShares(one, ann, "yes", 5);
  const [part] = await rest(one, ann, sell("yes", 5, 70));
  await place(one, bob, buy("yes", 2, 70));
  const orders = [
    part,
    ...(await rest(one, ann, buy("yes", 1, 40), buy("no", 2, 20))),
    ...(await rest(two, ann, buy("no", 3, 40))),
    (await place(live, ann, buy("yes", 1, 40))).order.id,
  ];
  await rest(one, bob, buy("yes", 4, 40));
  return { one, two, live, ann, part, orders };
}

/** Two orders at the moment at which the first expires. The clock stands still. */
export async function restUntilExpiry(exchange: Exchange, market: string, trader: string) {
  const { clock, rest } = exchange;
  await clock.freeze("2040-01-10T12:00:00Z");
  const [due, open] = await rest(
    market,
    trader,
    buy("yes", 1, 40, { expiresAt: "2040-01-10T12:00:05Z" }),
    buy("yes", 1, 40, { expiresAt: "2040-01-10T12:00:06Z" }),
  );
  await clock.freeze("2040-01-10T12:00:05Z");
  return { due, open };
}

/** Withdraws all cash of a trader but so many cents. */
export async function leaveCash(exchange: Exchange, trader: string, cents: number): Promise<void> {
  const amount_cents = (await exchange.balance(trader)) - cents;
  await exchange.operate("withdraw", { user_id: trader, amount_cents, reference: "out" });
}

let inCrowds = 1_000_000;

/** Traders as `makeTraders` makes them, by a few statements for all of them. */
export async function makeCrowd(exchange: Exchange, count: number, cents = 100_000) {
  const people = Array.from({ length: count }, () => {
    const number = (inCrowds += 1);
    const [day, week, month] = anyLimits(number);
    return { ...traderName(number), day, week, month };
  });
  const operators = exchange.database.connectAs("exchange_operator", { max: 1 });
  const { rows } = await operators.query(
    `select admin.create_user(p.email, p.display_name, p.handle) as id, day, week, month
     from jsonb_to_recordset($1) as p (
       email text, display_name text, handle text, day bigint, week bigint, month bigint
     )`,
    [JSON.stringify(people)],
  );
  const made = [JSON.stringify(rows)];
  if (cents > 0) {
    await operators.query(
      `select admin.deposit(p.id, ${cents}, 'start') from jsonb_to_recordset($1) as p (id uuid)`,
      made,
    );
  }
  await operators.query(
    `select admin.set_loss_limits(p.id, p.day, p.week, p.month)
     from jsonb_to_recordset($1) as p (id uuid, day bigint, week bigint, month bigint)`,
    made,
  );
  return rows.map(({ id }): string => id);
}
