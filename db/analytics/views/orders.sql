create or replace view analytics.orders as
select
  o.id as order_key,
  o.public_id as order_id,
  o.market_id as market_key,
  m.public_id as market_id,
  o.user_id as user_key,
  u.public_id as user_id,
  o.side::text as side,
  o.order_type::text as order_type,
  o.price::int as price_cents,
  case
    when (o.side = 'yes') = (o.order_type = 'buy') then 'bid'
    else 'ask'
  end as book_side,
  case
    when o.side = 'yes' then o.price::int
    else 100 - o.price::int
  end as yes_price_cents,
  coalesce(
    (
      select max(x.quantity_before::int)
      from trading.order_reductions as x
      where x.order_id = o.id
    ),
    o.quantity::int
  ) as original_quantity,
  o.quantity::int as quantity,
  o.filled_quantity,
  o.budget_cents::int as budget_cents,
  o.time_in_force::text as time_in_force,
  o.post_only as is_post_only,
  o.status::text as status,
  case o.cancel_reason
    -- Like orders that the user, or an operator for the user, cancelled at one moment.
    when 'self_excluded' then 'user_cancelled'
    when 'loss_limit' then 'responsible_gaming'
    else o.cancel_reason::text
  end as cancel_reason,
  o.fee_cents::bigint as fee_cents,
  o.created_at,
  o.expires_at,
  o.release_at,
  o.released_at,
  o.cancelled_at,
  o.is_archived,
  b.replaced_order_id as replaces_order_key,
  a.order_id as replaced_by_order_key,
  o.is_in_book
from (
  -- Those of trading.orders, with a column that is the same in all orders that are over: so a
  -- condition on it does not read them.
  select
    x.order_id as id, x.order_public_id as public_id, x.market_id, x.user_id, x.side, x.order_type,
    x.price, x.quantity, x.quantity - x.left_quantity as filled_quantity, x.budget_cents,
    x.time_in_force, x.post_only,
    case
      when x.queue_position is null then 'scheduled'
      when x.left_quantity = x.quantity then 'open'
      else 'partially_filled'
    end::trading.order_status as status,
    null::trading.cancel_reason as cancel_reason, x.fee_cents, x.created_at, x.expires_at,
    x.release_at, x.released_at, null::timestamptz as cancelled_at, false as is_archived,
    x.queue_position is not null as is_in_book
  from trading.active_orders as x
  union all
  select
    x.id, x.public_id, x.market_id, x.user_id, x.side, x.order_type, x.price, x.quantity,
    x.filled_quantity, x.budget_cents, x.time_in_force, x.post_only, x.status, x.cancel_reason,
    x.fee_cents, x.created_at, x.expires_at, x.release_at, x.released_at,
    case when x.status = 'cancelled' then x.ended_at end as cancelled_at, false as is_archived,
    null::boolean as is_in_book
  from trading.ended_orders as x
  union all
  select
    x.id, x.public_id, x.market_id, x.user_id, x.side, x.order_type, x.price, x.quantity,
    x.filled_quantity, x.budget_cents, x.time_in_force, x.post_only, x.status, x.cancel_reason,
    x.fee_cents, x.created_at, x.expires_at, x.release_at, x.released_at, x.cancelled_at,
    true as is_archived, null::boolean as is_in_book
  from trading.archived_orders as x
) as o
left join catalog.markets as m on m.id = o.market_id
left join identity.users as u on u.id = o.user_id
left join trading.order_replacements as b on b.order_id = o.id
left join trading.order_replacements as a on a.replaced_order_id = o.id;

comment on view analytics.orders is
  'Every order that was accepted, archived ones too, in the form its trader gave it. A condition '
  'on the market reads the orders of all markets, since those that are over have no index by it; '
  'with is_in_book it reads those of the market.';
comment on column analytics.orders.order_key is
  'Internal key, for joins; ascending in the order of acceptance.';
comment on column analytics.orders.order_id is 'Public id.';
comment on column analytics.orders.market_key is 'The market: internal key, for joins.';
comment on column analytics.orders.market_id is 'The market: public id.';
comment on column analytics.orders.user_key is 'The user: internal key, for joins.';
comment on column analytics.orders.user_id is 'The user: public id.';
comment on column analytics.orders.side is 'yes or no: the shares that the trader deals in.';
comment on column analytics.orders.order_type is 'buy or sell.';
comment on column analytics.orders.price_cents is
  'Limit for a share of the trader''s side; of a market order the protection price, 99 or 1.';
comment on column analytics.orders.book_side is
  'bid or ask: where the order stands in the book in YES prices.';
comment on column analytics.orders.yes_price_cents is 'The limit as a YES price.';
comment on column analytics.orders.original_quantity is
  'Shares ordered at first, before amendments that kept the order''s place.';
comment on column analytics.orders.quantity is
  'Shares ordered; of a budget order the shares bought, 0 while it is scheduled.';
comment on column analytics.orders.filled_quantity is 'Shares of it that have traded.';
comment on column analytics.orders.budget_cents is
  'What a budget order may spend, fee included; else null.';
comment on column analytics.orders.time_in_force is
  'gtc may rest on the book; ioc cancels its remainder; fok is filled at once or rejected.';
comment on column analytics.orders.is_post_only is
  'Whether it is rejected rather than matched on arrival.';
comment on column analytics.orders.status is
  'scheduled, open, partially_filled, filled or cancelled. An order past its expiry may still '
  'be open here until it is swept.';
comment on column analytics.orders.cancel_reason is
  'Why it was cancelled; else null. user_cancelled is also what a self-exclusion cancelled: which '
  'orders that were is for operators, in admin.orders. responsible_gaming is a loss limit: '
  'loss_limit over HTTP and in admin.orders.';
comment on column analytics.orders.fee_cents is 'Taker fee paid.';
comment on column analytics.orders.created_at is 'When it was accepted.';
comment on column analytics.orders.expires_at is 'From then on it counts nowhere; null is never.';
comment on column analytics.orders.release_at is
  'When it is due to be released, if a live market delayed it; else null.';
comment on column analytics.orders.released_at is
  'When it was released; null if it was not delayed, or not released.';
comment on column analytics.orders.cancelled_at is 'When it was cancelled; else null.';
comment on column analytics.orders.is_archived is
  'Whether it was moved to the archive: 30 days after it was cancelled without a fill.';
comment on column analytics.orders.replaces_order_key is
  'The order in whose place an amendment put this one; null if it is no replacement. Amendments '
  'that kept their place in the queue are in analytics.order_reductions.';
comment on column analytics.orders.replaced_by_order_key is
  'The order that an amendment put in the place of this one; else null.';
comment on column analytics.orders.is_in_book is
  'Whether it stands in the book; false: it is scheduled; null: it is over. A condition on it '
  'reads only orders that are not over.';
