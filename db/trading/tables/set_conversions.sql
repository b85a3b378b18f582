create table trading.set_conversions (
  id bigint generated always as identity primary key,
  market_id bigint not null,
  user_id bigint not null,
  kind trading.conversion_kind not null,
  quantity trading.trade_quantity not null,
  yes_realised_cents bigint,
  no_realised_cents bigint,
  journal_id bigint not null,
  created_at timestamptz not null,
  side trading.side,
  cents core.amount,
  constraint set_conversions_realise_by_giving_shares_back check (
    (kind in ('merge', 'redeem') or kind = 'convert' and side = 'no')
      = (yes_realised_cents is not null)
    and (yes_realised_cents is null) = (no_realised_cents is null)
  ),
  constraint set_conversions_of_events_are_of_one_side check (
    (kind in ('convert', 'redeem')) = (side is not null)
    and (side is null) = (cents is null)
    and (kind <> 'redeem' or side = 'yes')
  )
);

create index set_conversions_of_a_market on trading.set_conversions (market_id, id);
create index set_conversions_of_a_user on trading.set_conversions (user_id, id);
create index set_conversions_of_a_user_by_time on trading.set_conversions (user_id, created_at);

create trigger set_conversions_are_append_only
  before update or delete or truncate on trading.set_conversions
  for each statement execute function ledger.refuse_change();

comment on table trading.set_conversions is
  'Complete sets, one YES and one NO share, made of 100 cents each (split) or given back for them '
  '(merge); and shares of an exclusive event that were exchanged, a row for each of its markets, '
  'all with the same journal: NO shares given for YES shares of the other markets and cash '
  '(convert), YES shares of all markets given for cash (redeem). Append-only. No foreign keys: see '
  'trading.orders.';
comment on column trading.set_conversions.yes_realised_cents is
  'What was realised on the YES shares that were given: 50 cents a share, in an event cents, less '
  'cost taken out and buy fees taken out; 0: no YES shares were given; null: shares came. '
  'no_realised_cents likewise.';
comment on column trading.set_conversions.side is
  'The shares that a convert or redeem moved: of a convert YES shares came, NO shares were given. '
  'Null: both sides.';
comment on column trading.set_conversions.cents is
  'What these shares brought, if they were given, or else what they cost. Null: 50 cents a share.';
