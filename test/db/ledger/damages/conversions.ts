import type { Exchange } from "../../../helpers/exchange/test_exchange.ts";

/** Shares converted and redeemed in two exclusive events, in one of which a market is resolved. */
export async function convertALittle(exchange: Exchange): Promise<void> {
  const { convert, makeMarket, makeTrader, operate, redeem, split } = exchange;
  const cid = await makeTrader();
  for (const isResolved of [true, false]) {
    const event: string = await operate("create_event", {
      ...{ title: "Who wins?", category: "tests", exclusive: true },
    });
    const markets: string[] = [];
    while (markets.length < 3) markets.push(await makeMarket({ event_id: event }));
    for (const market of markets) await split(market, cid, 5);
    await convert(event, cid, markets.slice(0, 2), 2);
    await redeem(event, cid, 1);
    if (isResolved) {
      await operate("resolve_market", {
        market_id: markets[0],
        outcome: "custom",
        yes_payout_cents: 30,
      });
    }
  }
}
