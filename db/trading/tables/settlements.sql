create table trading.settlements (
  resolution_id bigint not null,
  market_id bigint not null,
  user_id bigint not null,
  side trading.side not null,
  quantity core.amount not null,
  payout_cents core.amount not null,
  cost_cents core.amount not null,
  fee_cents core.amount not null,
  realised_cents bigint not null,
  primary key (resolution_id, user_id, side),
  constraint settlements_are_of_shares check (quantity > 0),
  constraint settlements_realise_what_is_paid_beyond_cost_and_fees
    check (realised_cents = payout_cents - cost_cents - fee_cents)
);

create index settlements_of_a_user on trading.settlements (user_id, market_id);

create trigger settlements_are_append_only
  before update or delete or truncate on trading.settlements
  for each statement execute function ledger.refuse_change();

comment on table trading.settlements is
  'What each resolution pays each position that holds shares. A correction settles all of them '
  'again: its rows are the whole figures, not differences, so that of each market the rows of '
  'the last resolution are the ones that hold. Append-only. No foreign keys: see '
  'trading.active_orders.';
comment on column trading.settlements.cost_cents is
  'What was paid for the shares, and fee_cents the buy fees, at the time of the resolution.';
