create or replace view admin.orders as
select
  x.order_key,
  x.order_id,
  x.market_key,
  x.market_id,
  x.user_key,
  x.user_id,
  x.side,
  x.order_type,
  x.price_cents,
  x.book_side,
  x.yes_price_cents,
  x.original_quantity,
  x.quantity,
  x.filled_quantity,
  x.budget_cents,
  x.time_in_force,
  x.is_post_only,
  x.status,
  case x.cancel_reason
    when 'responsible_gaming' then 'loss_limit'
    -- Among these analysts do not see those of self-exclusions.
    when 'user_cancelled' then coalesce(
      (
        select e.cancel_reason::text
        from trading.ended_orders as e
        where e.id = x.order_key
      ),
      (
        select a.cancel_reason::text
        from trading.archived_orders as a
        where a.public_id = x.order_id
      )
    )
    else x.cancel_reason
  end as cancel_reason,
  x.fee_cents,
  x.created_at,
  x.expires_at,
  x.release_at,
  x.released_at,
  x.cancelled_at,
  x.is_archived,
  x.is_in_book
from analytics.orders as x;

comment on view admin.orders is
  'Every order that was accepted, archived ones too, in the form its trader gave it.';
comment on column admin.orders.order_key is
  'Internal key, for joins; ascending in the order of acceptance.';
comment on column admin.orders.order_id is 'Public id.';
comment on column admin.orders.market_key is 'The market: internal key, for joins.';
comment on column admin.orders.market_id is 'The market: public id.';
comment on column admin.orders.user_key is 'The user: internal key, for joins.';
comment on column admin.orders.user_id is 'The user: public id.';
comment on column admin.orders.side is 'yes or no: the shares that the trader deals in.';
comment on column admin.orders.order_type is 'buy or sell.';
comment on column admin.orders.price_cents is
  'Limit for a share of the trader''s side; of a market order the protection price, 99 or 1.';
comment on column admin.orders.book_side is
  'bid or ask: where the order stands in the book in YES prices.';
comment on column admin.orders.yes_price_cents is 'The limit as a YES price.';
comment on column admin.orders.original_quantity is
  'Shares ordered at first, before amendments that kept the order''s place.';
comment on column admin.orders.quantity is
  'Shares ordered; of a budget order the shares bought, 0 while it is scheduled.';
comment on column admin.orders.filled_quantity is 'Shares of it that have traded.';
comment on column admin.orders.budget_cents is
  'What a budget order may spend, fee included; else null.';
comment on column admin.orders.time_in_force is
  'gtc may rest on the book; ioc cancels its remainder; fok is filled at once or rejected.';
comment on column admin.orders.is_post_only is
  'Whether it is rejected rather than matched on arrival.';
comment on column admin.orders.status is
  'scheduled, open, partially_filled, filled or cancelled. An order past its expiry may still '
  'be open here until it is swept.';
comment on column admin.orders.cancel_reason is
  'Why it was cancelled; else null. The trader reads the same. Analysts read responsible_gaming '
  'for loss_limit, and user_cancelled for self_excluded.';
comment on column admin.orders.fee_cents is 'Taker fee paid.';
comment on column admin.orders.created_at is 'When it was accepted.';
comment on column admin.orders.expires_at is 'From then on it counts nowhere; null is never.';
comment on column admin.orders.release_at is
  'When it is due to be released, if a live market delayed it; else null.';
comment on column admin.orders.released_at is
  'When it was released; null if it was not delayed, or not released.';
comment on column admin.orders.cancelled_at is 'When it was cancelled; else null.';
comment on column admin.orders.is_archived is
  'Whether it was moved to the archive: 30 days after it was cancelled without a fill.';
comment on column admin.orders.is_in_book is
  'Whether it stands in the book; false: it is scheduled; null: it is over. A condition on it '
  'reads only orders that are not over.';
