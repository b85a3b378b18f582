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
  constraint set_conversions_realise_by_merging check (
    (kind = 'merge') = (yes_realised_cents is not null)
    and (kind = 'merge') = (no_realised_cents is not null)
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
  '(merge). Append-only. No foreign keys: see trading.orders.';
comment on column trading.set_conversions.yes_realised_cents is
  'What merging realised on the YES shares: 50 cents a share - cost taken out - buy fees taken '
  'out; null for a split. no_realised_cents likewise.';
