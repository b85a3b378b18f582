import type { Exchange } from "../../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../../helpers/exchange/orders.ts";

/** A sale that is undone, and a market that is: Ann has bought there, sold a part, and is paid. */
export async function undoALittle(exchange: Exchange): Promise<void> {
  const { makeMarket, makeTraders, operate, place, rest } = exchange;
  const [ann, ben] = await makeTraders(2);
  for (const isMarket of [false, true]) {
    const market = await makeMarket();
    await rest(market, ben, buy("no", 10, 45));
    await place(market, ann, buy("yes", 10, 55));
    await rest(market, ben, buy("yes", 4, 60));
    const { fills } = await place(market, ann, sell("yes", 4, 60));
    if (isMarket) await operate("void_market", { market_id: market, reason: "no answer" });
    else await operate("void_trade", { trade_id: fills[0]!.id, reason: "a typing error" });
  }
}
