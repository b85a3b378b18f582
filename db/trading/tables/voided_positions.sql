create table trading.voided_positions (
  void_id bigint not null,
  market_id bigint not null,
  user_id bigint not null,
  side trading.side not null,
  quantity core.amount not null,
  cost_cents core.amount not null,
  fee_cents core.amount not null,
  realised_cents bigint not null,
  primary key (void_id, user_id, side)
);

create index voided_positions_of_a_user on trading.voided_positions (user_id, market_id);

create trigger voided_positions_are_append_only
  before update or delete or truncate on trading.voided_positions
  for each statement execute function ledger.refuse_change();

comment on table trading.voided_positions is
  'The positions of voided markets as they were before: in trading.holdings their figures are 0. '
  'Those without shares and result are left out. Append-only. No foreign keys: see '
  'trading.active_orders.';
