/* Shares, settlements, conversions, disputes and what operators undid. */

-- escrow is 100 x shares of each side
update trading.holdings set no_quantity = no_quantity + 1
  where market_id = :market and user_id = :ann;
update catalog.markets set status = 'closed', resolved_outcome = null,
    yes_payout_cents = null, resolved_at = null
  where id = :resolved;

-- position equals what was traded, split and merged
update trading.holdings set no_quantity = no_quantity - 1
  where market_id = :market and user_id = :ann;
delete from trading.holdings where market_id = :market and user_id = :ann;
update trading.holdings set user_id = 0 where market_id = :market and user_id = :dan;
update trading.set_conversions set quantity = quantity + 1 where kind = 'split';
update trading.voided_positions set quantity = quantity + 1 where quantity > 0;

-- realised cash is the sum of sales, merges and the settlement
update trading.holdings set no_realised_cents = no_realised_cents + 1
  where market_id = :market and user_id = :ann;
update trading.trades set taker_realised_cents = taker_realised_cents + 1
  where taker_realised_cents is not null;

-- cost and fees are what was paid less what was taken out
update trading.holdings set no_cost_cents = no_cost_cents + 1
  where market_id = :market and user_id = :ann;
update trading.holdings set no_cost_cents = no_cost_cents - 1, no_fee_cents = no_fee_cents + 1
  where market_id = :market and user_id = :ann;

-- settlement repeats its position
update trading.settlements set quantity = quantity + 1 where resolution_id = :correction;
update trading.settlements set cost_cents = cost_cents + 1, fee_cents = 0,
    realised_cents = realised_cents - 1 + fee_cents
  where resolution_id = :correction;
delete from trading.settlements where resolution_id = :correction and user_id = :ann;
update trading.settlements set resolution_id = 0 where resolution_id = :correction;

-- settlement pays what the outcome says
update trading.settlements
  set payout_cents = payout_cents + 1, realised_cents = realised_cents + 1
  where resolution_id = :correction and user_id = :ann;
update trading.resolutions set yes_payout_cents = 21 where id = :correction;

-- resolution equals its settlements
update trading.resolutions set payout_cents = payout_cents + 1 where id = :correction;
update trading.resolutions set position_count = 1 where id = :correction;

-- resolution corrects the one before
update trading.resolutions set corrects_resolution_id = id where id = :correction;
delete from trading.resolutions where market_id = :resolved and reason is null;

-- market is resolved as its last resolution says
update catalog.markets set yes_payout_cents = 21 where id = :resolved;
update catalog.markets set resolved_at = resolved_at + interval '1 s' where id = :resolved;
delete from trading.resolutions where market_id = :resolved;
update catalog.markets set resolved_outcome = 'no', yes_payout_cents = 0,
    resolved_at = now(), status = 'resolved'
  where id = :market;
update catalog.markets set yes_payout_cents = 49
  where id = (select market_id from trading.voids where trade_id is null);

-- YES shares of an exclusive event pay 100 in all
update catalog.markets set yes_payout_cents = 1, resolved_outcome = 'custom'
  where outcome_name = 'lost';
update catalog.markets set yes_payout_cents = 0, resolved_outcome = 'no' where outcome_name = 'won';

-- market that an exclusive event leaves nothing takes no orders
update catalog.markets set status = 'open', resolved_outcome = null,
    yes_payout_cents = null, resolved_at = null
  where outcome_name = 'lost';

-- position has an id
update trading.holdings set no_public_id = null where market_id = :market and user_id = :ann;
update trading.holdings set yes_realised_cents = 1 where yes_public_id is null;
update trading.holdings set yes_cost_cents = 1 where yes_public_id is null;
update trading.holdings set yes_fee_cents = 1 where yes_public_id is null;

-- cost and fees are what was paid less what was taken out
update trading.holdings set yes_cost_cents = 1
  where yes_quantity = 0 and yes_public_id is not null;

-- position says whether it was traded
update trading.holdings set no_traded = false where market_id = :market and user_id = :ann;
update trading.holdings set yes_traded = true where not yes_traded and yes_public_id is not null;
update trading.holdings set no_traded = true where no_public_id is null;

-- sale realises its proceeds less cost and fees taken out
update trading.trades set taker_realised_cents = taker_realised_cents + 1
  where taker_realised_cents is not null;
update trading.set_conversions set
    yes_realised_cents = yes_realised_cents + 1, no_realised_cents = no_realised_cents - 1
  where kind = 'merge';
update trading.trades set taker_realised_cents = taker_realised_cents
    + case when taker_order_id = :first_sale then 1 else -1 end
  where taker_order_id in (:first_sale, :second_sale);
update trading.voids set maker_realised_cents = maker_realised_cents + 1 where trade_id is not null;

-- shares that leave a position were in it
delete from trading.set_conversions where kind = 'split';
update trading.trades set id = -id where taker_order_id in (:first_sale, :second_sale);

-- nothing is traded or converted after the resolution
update trading.trades set id = id + 1000000 where market_id = :resolved;
update ledger.posted_journals set market_id = :resolved, id = id + 1000000
  where market_id = :market and kind = 'merge';

-- conversion moves each market of its exclusive event once
delete from trading.set_conversions where journal_id = (
    select max(c.journal_id) from trading.set_conversions as c where c.kind = 'convert'
  ) and side = 'yes';
update catalog.events set exclusive = false where exclusive;

-- conversion makes no cent and loses none
update trading.set_conversions set cents = cents + 1 where journal_id = (
    select max(c.journal_id) from trading.set_conversions as c where c.kind = 'convert'
  ) and side = 'yes';
update trading.set_conversions set
    cents = cents + 50, no_realised_cents = no_realised_cents + 50 * (side = 'no')::int
  where journal_id = (
    select max(c.journal_id) from trading.set_conversions as c where c.kind = 'convert'
  );

-- shares of a conversion bring or cost the same in each market
update trading.set_conversions set cents = cents
    + case market_id when (select max(market_id) from trading.set_conversions where journal_id = (
        select max(c.journal_id) from trading.set_conversions as c where c.kind = 'convert'
      ) and side = 'no')
        then 5 else -5 end
  where journal_id = (
    select max(c.journal_id) from trading.set_conversions as c where c.kind = 'convert'
  ) and side = 'no';

-- conversion realises nothing on shares that it does not move
update trading.set_conversions set yes_realised_cents = 1 where journal_id = (
    select max(c.journal_id) from trading.set_conversions as c where c.kind = 'convert'
  ) and side = 'no';

-- escrow of an event is what its conversions leave to pay
update catalog.events set escrow_cents = escrow_cents + 1 where exclusive;
update trading.set_conversions set quantity = quantity + 1 where journal_id = (
    select max(c.journal_id) from trading.set_conversions as c where c.kind = 'convert'
  );

-- nothing is converted in an event once a market is resolved
update trading.set_conversions set journal_id = 999999999
  where kind = 'convert'
    and market_id in (select r.market_id from trading.resolutions as r);

-- dispute is by a user who held shares
update trading.disputes set user_id = (
    select u.id from identity.users as u
    where not exists (select from trading.settlements as s where s.user_id = u.id)
    limit 1
  )
  where answered_at is null;
delete from trading.settlements where resolution_id in (
    select d.resolution_id from trading.disputes as d
  );

-- dispute was made while its resolution held
update trading.disputes set created_at = created_at - interval '1 day';
insert into trading.resolutions (
    market_id, outcome, yes_payout_cents, corrects_resolution_id, reason, position_count,
    payout_cents, created_at
  )
  select r.market_id, 'no', 0, r.id, 'it was not', r.position_count, r.payout_cents,
    d.created_at - interval '1 s'
  from trading.disputes as d
  join trading.resolutions as r on r.id = d.resolution_id;

-- dispute was answered as was called for
update trading.disputes set answer = 'no' where answered_at is not null;
update trading.disputes set answer = null, answered_at = null;
update trading.disputes set answered_at = answered_at + interval '2 hours';
update trading.disputes set answer = 'yes', answered_at = core.now();

-- void is of a trade of its market
update trading.voids set trade_id = 0 where trade_id is not null;
update trading.voids as v set trade_id = (
    select max(t.id) from trading.trades as t where t.market_id <> v.market_id
  ) where trade_id is not null;

-- void of a trade takes back what its sales realised
update trading.voids set taker_realised_cents = taker_realised_cents + 1 where trade_id is not null;

-- void gives back the fees
update trading.voids set fee_cents = 99 where trade_id is not null;
update trading.voids set fee_cents = 99 where trade_id is null;

-- voided market moved no cash
delete from ledger.posted_entries
  where journal_id = (select journal_id from trading.voids where trade_id is null)
    and account_id % 4 = 0;

-- voided market holds no shares
update trading.holdings set yes_quantity = 1, yes_public_id = gen_random_uuid()
  where market_id = (select market_id from trading.voids where trade_id is null);

-- voided position is of its market
update trading.voided_positions set void_id = void_id - 1;

-- nothing happens in a market after its void
update trading.voids set journal_id = journal_id - 1 where trade_id is null;

-- void is what was called for
update trading.voids set reason = 'another' where trade_id is not null;
delete from admin.audit_log where action = 'void_market';
update admin.audit_log set at = at - interval '2 hours' where action = 'void_trade';
delete from trading.voids where trade_id is not null;

-- fee revenue equals the fees of the trades less the payouts
update trading.voids set outside_cents = 1 where trade_id is not null;
update trading.market_state set revenue_cents = revenue_cents + 1 where market_id = :market;
update trading.trades set fee_cents = fee_cents + 1 where market_id = :market;
