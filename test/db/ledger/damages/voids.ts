import type { Exchange } from "../../../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../../../helpers/exchange/orders.ts";
import type { Damage } from "./damage.ts";

/** A sale that is undone, and a market that is: Ann has bought there, sold a part, and is paid. */
export async function undoALittle(exchange: Exchange): Promise<void> {
  const { makeMarket, makeTraders, operate, place, rest } = exchange;
  const [ann, ben] = (await makeTraders(2)) as [string, string];
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

const theTrade = "trade_id is not null";
const theMarket = "trade_id is null";

/** Ways to break what operators undid, each with an invariant that must notice. */
export const voidsDamages: Damage[] = [
  ["void is of a trade of its market", `update trading.voids set trade_id = 0 where ${theTrade}`],
  [
    "void is of a trade of its market",
    `update trading.voids as v set trade_id = (
       select max(t.id) from trading.trades as t where t.market_id <> v.market_id
     ) where ${theTrade}`,
  ],
  [
    "void of a trade takes back what its sales realised",
    `update trading.voids set taker_realised_cents = taker_realised_cents + 1 where ${theTrade}`,
  ],
  ["void gives back the fees", `update trading.voids set fee_cents = 99 where ${theTrade}`],
  ["void gives back the fees", `update trading.voids set fee_cents = 99 where ${theMarket}`],
  [
    "voided market moved no cash",
    `delete from ledger.posted_entries
     where journal_id = (select journal_id from trading.voids where ${theMarket})
       and account_id % 4 = 0`,
  ],
  [
    "voided market holds no shares",
    `update trading.holdings set yes_quantity = 1, yes_public_id = gen_random_uuid()
     where market_id = (select market_id from trading.voids where ${theMarket})`,
  ],
  ["voided position is of its market", "update trading.voided_positions set void_id = void_id - 1"],
  [
    "nothing happens in a market after its void",
    `update trading.voids set journal_id = journal_id - 1 where ${theMarket}`,
  ],
  ["void is what was called for", `update trading.voids set reason = 'another' where ${theTrade}`],
  ["void is what was called for", "delete from admin.audit_log where action = 'void_market'"],
  [
    "void is what was called for",
    "update admin.audit_log set at = at - interval '2 hours' where action = 'void_trade'",
  ],
  ["void is what was called for", `delete from trading.voids where ${theTrade}`],
  [
    "journal has the lines of what happened",
    "update trading.voided_positions set cost_cents = cost_cents + 1 where quantity > 0",
  ],
  [
    "journal is of one thing that happened",
    `update trading.voids set journal_id = null where ${theMarket}`,
  ],
  [
    "position equals what was traded, split and merged",
    "update trading.voided_positions set quantity = quantity + 1 where quantity > 0",
  ],
  [
    "sale realises its proceeds less cost and fees taken out",
    `update trading.voids set maker_realised_cents = maker_realised_cents + 1 where ${theTrade}`,
  ],
  [
    "market is resolved as its last resolution says",
    `update catalog.markets set yes_payout_cents = 49
     where id = (select market_id from trading.voids where ${theMarket})`,
  ],
  [
    "fee revenue equals the fees of the trades less the payouts",
    `update trading.voids set outside_cents = 1 where ${theTrade}`,
  ],
];
