import type { Exchange } from "../../../helpers/exchange/test_exchange.ts";
import type { Damage } from "./damage.ts";

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

/** The last conversion of shares, of 2 NO shares of two markets. */
const last = `journal_id = (
  select max(c.journal_id) from trading.set_conversions as c where c.kind = 'convert'
)`;

/** Ways to break conversions in exclusive events, each with an invariant that must notice. */
export const conversionsDamages: Damage[] = [
  [
    "conversion moves each market of its exclusive event once",
    `delete from trading.set_conversions where ${last} and side = 'yes'`,
  ],
  [
    "conversion moves each market of its exclusive event once",
    "update catalog.events set exclusive = false where exclusive",
  ],
  [
    "conversion makes no cent and loses none",
    `update trading.set_conversions set cents = cents + 1 where ${last} and side = 'yes'`,
  ],
  [
    "conversion makes no cent and loses none",
    `update trading.set_conversions set
       cents = cents + 50, no_realised_cents = no_realised_cents + 50 * (side = 'no')::int
     where ${last}`,
  ],
  [
    "shares of a conversion bring or cost the same in each market",
    `update trading.set_conversions set cents = cents
       + case market_id when (select max(market_id) from trading.set_conversions where ${last} and side = 'no')
           then 5 else -5 end
     where ${last} and side = 'no'`,
  ],
  [
    "conversion realises nothing on shares that it does not move",
    `update trading.set_conversions set yes_realised_cents = 1 where ${last} and side = 'no'`,
  ],
  [
    "escrow of an event is what its conversions leave to pay",
    "update catalog.events set escrow_cents = escrow_cents + 1 where exclusive",
  ],
  [
    "escrow of an event is what its conversions leave to pay",
    `update trading.set_conversions set quantity = quantity + 1 where ${last}`,
  ],
  [
    "nothing is converted in an event once a market is resolved",
    `update trading.set_conversions set journal_id = 999999999
     where kind = 'convert'
       and market_id in (select r.market_id from trading.resolutions as r)`,
  ],
  [
    "journal has the lines of what happened",
    `update ledger.posted_entries set account_id = account_id + 4
     where ${last} and account_id % 4 = 3`,
  ],
];
