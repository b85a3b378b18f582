create or replace view admin.closed_figures as
select
  d.day,
  f.account_kind::text as account_kind,
  f.item,
  f.amount_cents
from ledger.closed_figures as f
join ledger.closed_days as d on d.id = f.closed_day_id;

comment on view admin.closed_figures is
  'The figures of closed days, by kind of account. The amounts of an item sum to zero.';
comment on column admin.closed_figures.day is 'The day (UTC).';
comment on column admin.closed_figures.account_kind is
  'user_cash, market_escrow, fee_revenue, event_escrow or outside_world.';
comment on column admin.closed_figures.item is
  'opening, closing, or the kind of the journals that moved the amount.';
comment on column admin.closed_figures.amount_cents is
  'The balances at the start or the end, or by how much the journals moved them.';
