import type { Damage } from "./damage.ts";

/** Ways to break shares and what they paid, each with an invariant that must notice. */
export const positionsDamages: Damage[] = [
  [
    "escrow is 100 x shares of each side",
    `update trading.holdings set no_quantity = no_quantity + 1
     where market_id = :market and user_id = :ann`,
  ],
  [
    "position equals what was traded, split and merged",
    `update trading.holdings set no_quantity = no_quantity - 1
     where market_id = :market and user_id = :ann`,
  ],
  [
    "position equals what was traded, split and merged",
    "delete from trading.holdings where market_id = :market and user_id = :ann",
  ],
  [
    "realised cash is the sum of sales, merges and the settlement",
    `update trading.holdings set no_realised_cents = no_realised_cents + 1
     where market_id = :market and user_id = :ann`,
  ],
  [
    "realised cash is the sum of sales, merges and the settlement",
    `update trading.trades set taker_realised_cents = taker_realised_cents + 1
     where taker_realised_cents is not null`,
  ],
  [
    "cost and fees are what was paid less what was taken out",
    `update trading.holdings set no_cost_cents = no_cost_cents + 1
     where market_id = :market and user_id = :ann`,
  ],
  [
    "cost and fees are what was paid less what was taken out",
    `update trading.holdings set no_cost_cents = no_cost_cents - 1, no_fee_cents = no_fee_cents + 1
     where market_id = :market and user_id = :ann`,
  ],
  [
    "settlement repeats its position",
    "update trading.settlements set quantity = quantity + 1 where resolution_id = :correction",
  ],
  [
    "settlement repeats its position",
    `update trading.settlements set cost_cents = cost_cents + 1, fee_cents = 0,
       realised_cents = realised_cents - 1 + fee_cents
     where resolution_id = :correction`,
  ],
  [
    "settlement repeats its position",
    "delete from trading.settlements where resolution_id = :correction and user_id = :ann",
  ],
  [
    "settlement repeats its position",
    "update trading.settlements set resolution_id = 0 where resolution_id = :correction",
  ],
  [
    "settlement pays what the outcome says",
    `update trading.settlements
     set payout_cents = payout_cents + 1, realised_cents = realised_cents + 1
     where resolution_id = :correction and user_id = :ann`,
  ],
  [
    "settlement pays what the outcome says",
    "update trading.resolutions set yes_payout_cents = 21 where id = :correction",
  ],
  [
    "resolution equals its settlements",
    "update trading.resolutions set payout_cents = payout_cents + 1 where id = :correction",
  ],
  [
    "resolution equals its settlements",
    "update trading.resolutions set position_count = 1 where id = :correction",
  ],
  [
    "resolution corrects the one before",
    "update trading.resolutions set corrects_resolution_id = id where id = :correction",
  ],
  [
    "resolution corrects the one before",
    `delete from trading.resolutions where market_id = :resolved and reason is null`,
  ],
  [
    "market is resolved as its last resolution says",
    "update catalog.markets set yes_payout_cents = 21 where id = :resolved",
  ],
  [
    "market is resolved as its last resolution says",
    "update catalog.markets set resolved_at = resolved_at + interval '1 s' where id = :resolved",
  ],
  [
    "market is resolved as its last resolution says",
    "delete from trading.resolutions where market_id = :resolved",
  ],
  [
    "market is resolved as its last resolution says",
    `update catalog.markets set resolved_outcome = 'no', yes_payout_cents = 0,
       resolved_at = now(), status = 'resolved'
     where id = :market`,
  ],
  [
    "YES shares of an exclusive event pay 100 in all",
    `update catalog.markets set yes_payout_cents = 1, resolved_outcome = 'custom'
     where outcome_name = 'lost'`,
  ],
  [
    "YES shares of an exclusive event pay 100 in all",
    `update catalog.markets set yes_payout_cents = 0, resolved_outcome = 'no'
     where outcome_name = 'won'`,
  ],
  [
    "market that an exclusive event leaves nothing takes no orders",
    `update catalog.markets set status = 'open', resolved_outcome = null,
       yes_payout_cents = null, resolved_at = null
     where outcome_name = 'lost'`,
  ],
  [
    "escrow is 100 x shares of each side",
    `update catalog.markets set status = 'closed', resolved_outcome = null,
       yes_payout_cents = null, resolved_at = null
     where id = :resolved`,
  ],
  [
    "position equals what was traded, split and merged",
    "update trading.holdings set user_id = 0 where market_id = :market and user_id = :dan",
  ],
  [
    "position equals what was traded, split and merged",
    "update trading.set_conversions set quantity = quantity + 1 where kind = 'split'",
  ],
  [
    "position says whether it was traded",
    "update trading.holdings set no_traded = false where market_id = :market and user_id = :ann",
  ],
  [
    "position says whether it was traded",
    "update trading.holdings set yes_traded = true where not yes_traded and yes_public_id is not null",
  ],
  [
    "position says whether it was traded",
    "update trading.holdings set no_traded = true where no_public_id is null",
  ],
  [
    "sale realises its proceeds less cost and fees taken out",
    `update trading.trades set taker_realised_cents = taker_realised_cents + 1
     where taker_realised_cents is not null`,
  ],
  [
    "sale realises its proceeds less cost and fees taken out",
    `update trading.set_conversions set
       yes_realised_cents = yes_realised_cents + 1, no_realised_cents = no_realised_cents - 1
     where kind = 'merge'`,
  ],
  [
    "sale realises its proceeds less cost and fees taken out",
    `update trading.trades set taker_realised_cents = taker_realised_cents
       + case when taker_order_id = :first_sale then 1 else -1 end
     where taker_order_id in (:first_sale, :second_sale)`,
  ],
  [
    "shares that leave a position were in it",
    "delete from trading.set_conversions where kind = 'split'",
  ],
  [
    "shares that leave a position were in it",
    "update trading.trades set id = -id where taker_order_id in (:first_sale, :second_sale)",
  ],
  [
    "nothing is traded or converted after the resolution",
    "update trading.trades set id = id + 1000000 where market_id = :resolved",
  ],
  [
    "nothing is traded or converted after the resolution",
    `update ledger.posted_journals set market_id = :resolved, id = id + 1000000
     where market_id = :market and kind = 'merge'`,
  ],
];
