create or replace view analytics.fee_revenue as
select
  f.day,
  f.market_id as market_key,
  m.public_id as market_id,
  f.fee_schedule_id as fee_schedule_key,
  s.taker_rate_bps,
  f.trade_count,
  f.quantity,
  f.fee_cents,
  f.voided_fee_cents
from (
  select
    (t.created_at at time zone 'UTC')::date as day,
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
  group by 1, t.market_id, t.fee_schedule_id
) as f
left join trading.fee_schedules as s on s.id = f.fee_schedule_id
left join catalog.markets as m on m.id = f.market_id;

comment on view analytics.fee_revenue is 'Taker fees by UTC day, market and fee schedule.';
comment on column analytics.fee_revenue.day is 'UTC day.';
comment on column analytics.fee_revenue.market_key is 'The market: internal key, for joins.';
comment on column analytics.fee_revenue.market_id is 'The market: public id.';
comment on column analytics.fee_revenue.fee_schedule_key is
  'The fee schedule: internal key, for joins.';
comment on column analytics.fee_revenue.taker_rate_bps is
  'Its rate in basis points of quantity x p x (1 - p).';
comment on column analytics.fee_revenue.trade_count is 'Trades.';
comment on column analytics.fee_revenue.quantity is 'Shares, or pairs of shares, traded.';
comment on column analytics.fee_revenue.fee_cents is 'Fees taken, also those given back.';
comment on column analytics.fee_revenue.voided_fee_cents is
  'Of these, what went back since the trade, or its whole market, was voided.';
