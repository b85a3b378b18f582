import { buy, sell } from "./orders.ts";
import type { Exchange } from "./test_exchange.ts";

/** Orders that several tests begin with. */

/** Five orders of Ann in three markets, one of them scheduled, one filled in part; one of Bob. */
export async function scatterOrders(exchange: Exchange) {
  const { giveShares, makeLiveMarket, makeMarkets, makeTraders, place, rest } = exchange;
  const [one, two] = (await makeMarkets(2)) as [string, string];
  const { market: live } = await makeLiveMarket();
  const [ann, bob] = (await makeTraders(2)) as [string, string];
  await giveShares(one, ann, "yes", 5);
  const [part] = (await rest(one, ann, sell("yes", 5, 70))) as [string];
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
  const [due, open] = (await rest(
    market,
    trader,
    buy("yes", 1, 40, { expiresAt: "2040-01-10T12:00:05Z" }),
    buy("yes", 1, 40, { expiresAt: "2040-01-10T12:00:06Z" }),
  )) as [string, string];
  await clock.freeze("2040-01-10T12:00:05Z");
  return { due, open };
}

/** Withdraws all cash of a trader but so many cents. */
export async function leaveCash(exchange: Exchange, trader: string, cents: number): Promise<void> {
  const amount_cents = (await exchange.balance(trader)) - cents;
  await exchange.operate("withdraw", { user_id: trader, amount_cents, reference: "out" });
}
