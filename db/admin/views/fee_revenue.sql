create or replace view admin.fee_revenue as
select
  d.since::date as day,
  f.market_id as market_key,
  m.public_id as market_id,
  f.fee_schedule_id as fee_schedule_key,
  f.trade_count,
  f.quantity,
  f.fee_cents,
  f.voided_fee_cents
from generate_series(
  date_trunc('day', analytics.now() at time zone 'UTC') - interval '30 days',
  date_trunc('day', analytics.now() at time zone 'UTC'),
  interval '1 day'
) as d (since)
-- Day by day, so that a condition on the day reads the trades of these days alone.
cross join lateral (
  select
    t.market_id,
    t.fee_schedule_id,
    count(*) as trade_count,
    sum(t.quantity::int) as quantity,
    sum(t.fee_cents)::bigint as fee_cents,
    coalesce(
      sum(t.fee_cents) filter (where v.id is not null or w.void_id is not null), 0
    )::bigint as voided_fee_cents
  from trading.trades as t
  left join trading.voids as v on v.trade_id = t.id
  left join trading.voided_markets as w on w.market_id = t.market_id
  -- The index is of ids, which begin with the time when they were made.
  where t.public_id >= core.uuid_v7_at(d.since at time zone 'UTC' - interval '1 hour')
    and t.public_id < core.uuid_v7_at(d.since at time zone 'UTC' + interval '25 hours')
    and t.created_at >= d.since at time zone 'UTC'
    and t.created_at < d.since at time zone 'UTC' + interval '24 hours'
  group by t.market_id, t.fee_schedule_id
) as f
join catalog.markets as m on m.id = f.market_id;

comment on view admin.fee_revenue is
  'Taker fees of today and the 30 days before (UTC), by day, market and fee schedule. '
  'admin.closed_figures has the days that are closed, analytics.fee_revenue all days.';
comment on column admin.fee_revenue.day is 'UTC day.';
comment on column admin.fee_revenue.market_key is 'The market: internal key, for joins.';
comment on column admin.fee_revenue.market_id is 'The market: public id.';
comment on column admin.fee_revenue.fee_schedule_key is
  'The fee schedule: internal key, for joins.';
comment on column admin.fee_revenue.trade_count is 'Trades.';
comment on column admin.fee_revenue.quantity is 'Shares, or pairs of shares, traded.';
comment on column admin.fee_revenue.fee_cents is 'Fees taken, also those given back.';
comment on column admin.fee_revenue.voided_fee_cents is
  'Of these, what went back since the trade, or its whole market, was voided.';
