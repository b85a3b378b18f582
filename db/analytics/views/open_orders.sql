create or replace view analytics.open_orders as
select
  b.order_id as order_key,
  b.order_public_id as order_id,
  b.market_id as market_key,
  m.public_id as market_id,
  b.user_id as user_key,
  u.public_id as user_id,
  b.side::text as side,
  b.order_type::text as order_type,
  b.price::int as price_cents,
  case
    when (b.side = 'yes') = (b.order_type = 'buy') then 'bid'
    else 'ask'
  end as book_side,
  case
    when b.side = 'yes' then b.price::int
    else 100 - b.price::int
  end as yes_price_cents,
  b.quantity::int as quantity,
  b.quantity::int - b.left_quantity as filled_quantity,
  b.budget_cents::int as budget_cents,
  b.time_in_force::text as time_in_force,
  b.post_only as is_post_only,
  case
    when b.queue_position is null then 'scheduled'
    when b.left_quantity = b.quantity::int then 'open'
    else 'partially_filled'
  end as status,
  b.created_at,
  b.expires_at,
  b.release_at,
  b.released_at,
  case
    when b.order_type = 'sell' then 0
    when b.queue_position is not null
      then b.left_quantity::bigint * b.price::int
    when b.budget_cents is not null then b.budget_cents::bigint
    -- The fee of a buy of all of it at its price, at the schedule in force.
    else b.quantity::bigint * b.price::int + (
      select
        (s.taker_rate_bps * (b.quantity::bigint * b.price::int * (100 - b.price::int)) + 999999)
          / 1000000
      from trading.fee_schedules as s
      where s.effective_from <= analytics.now()
        and not exists (
          select from trading.fee_cancellations as x where x.fee_schedule_id = s.id
        )
        and (
          (s.market_id = b.market_id and s.category_id is null)
          or (s.market_id is null and s.category_id = m.category_id)
          or (s.market_id is null and s.category_id is null)
        )
      order by s.market_id is null, s.category_id is null, s.effective_from desc, s.id desc
      limit 1
    )
  end as worst_cost_cents
from trading.active_orders as b
left join catalog.markets as m on m.id = b.market_id
left join identity.users as u on u.id = b.user_id
where b.expires_at is null
  or b.expires_at > analytics.now();

comment on view analytics.open_orders is
  'The orders of analytics.orders that are on a book or scheduled, without those past their '
  'expiry. A query reads only these, however many orders there were.';
comment on column analytics.open_orders.order_key is
  'Internal key, for joins; ascending in the order of acceptance.';
comment on column analytics.open_orders.order_id is 'Public id.';
comment on column analytics.open_orders.market_key is 'The market: internal key, for joins.';
comment on column analytics.open_orders.market_id is 'The market: public id.';
comment on column analytics.open_orders.user_key is 'The user: internal key, for joins.';
comment on column analytics.open_orders.user_id is 'The user: public id.';
comment on column analytics.open_orders.side is 'yes or no: the shares that the trader deals in.';
comment on column analytics.open_orders.order_type is 'buy or sell.';
comment on column analytics.open_orders.price_cents is
  'Limit for a share of the trader''s side; of a market order the protection price, 99 or 1.';
comment on column analytics.open_orders.book_side is
  'bid or ask: where the order stands in the book in YES prices.';
comment on column analytics.open_orders.yes_price_cents is 'The limit as a YES price.';
comment on column analytics.open_orders.quantity is
  'Shares ordered; 0 of a budget order, which is scheduled.';
comment on column analytics.open_orders.filled_quantity is 'Shares of it that have traded.';
comment on column analytics.open_orders.budget_cents is
  'What a budget order may spend, fee included; else null.';
comment on column analytics.open_orders.time_in_force is
  'gtc may rest on the book; ioc cancels its remainder; fok is filled at once or rejected.';
comment on column analytics.open_orders.is_post_only is
  'Whether it is rejected rather than matched on arrival.';
comment on column analytics.open_orders.status is 'scheduled, open or partially_filled.';
comment on column analytics.open_orders.created_at is 'When it was accepted.';
comment on column analytics.open_orders.expires_at is
  'From then on it counts nowhere; null is never.';
comment on column analytics.open_orders.release_at is
  'When it is due to be released, if a live market delayed it; else null.';
comment on column analytics.open_orders.released_at is
  'When it was released; null if it was not delayed, or not yet released.';
comment on column analytics.open_orders.worst_cost_cents is
  'The most that it could still cost, as it counts toward loss limits: a resting buy what is left '
  'of it at its price; a scheduled buy all of it at its price with the fee, or its budget; a sell '
  'nothing.';
