create or replace view admin.fee_revenue as
select
  f.day,
  f.market_id as market_key,
  m.public_id as market_id,
  f.fee_schedule_id as fee_schedule_key,
  f.trade_count,
  f.quantity,
  f.fee_cents
from (
  select
    (t.created_at at time zone 'UTC')::date as day,
    t.market_id,
    t.fee_schedule_id,
    count(*) as trade_count,
    sum(t.quantity::int) as quantity,
    sum(t.fee_cents)::bigint as fee_cents
  from trading.trades as t
  -- The index is of ids, which begin with the time when they were made.
  where t.public_id >= core.uuid_v7_at(analytics.now() - interval '32 days')
    and t.created_at >= date_trunc('day', analytics.now(), 'UTC') - interval '30 days'
  group by 1, t.market_id, t.fee_schedule_id
) as f
join catalog.markets as m on m.id = f.market_id;

comment on view admin.fee_revenue is
  'Taker fees of today and the 30 days before (UTC), by day, market and fee schedule. Voids are '
  'not taken off. admin.closed_figures has the days that are closed, '
  'analytics.fee_revenue all days.';
comment on column admin.fee_revenue.day is 'UTC day.';
comment on column admin.fee_revenue.market_key is 'The market: internal key, for joins.';
comment on column admin.fee_revenue.market_id is 'The market: public id.';
comment on column admin.fee_revenue.fee_schedule_key is
  'The fee schedule: internal key, for joins.';
comment on column admin.fee_revenue.trade_count is 'Trades.';
comment on column admin.fee_revenue.quantity is 'Shares, or pairs of shares, traded.';
comment on column admin.fee_revenue.fee_cents is 'Fees taken.';
