-- One query for each invariant, in this order:
--
--   what trades say of an order: filled quantity, fee, budget, taking before making
--   that it is somewhere, once: its user and market, the archive, the sum of all ids of a market
--   what it may look like: form, status, times, the reason of its end
--   what it leads to: the order that replaced it, its reductions, its idempotency key
create or replace function trading.verify_orders()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  fills as (
    select
      f.order_id,
      sum(f.quantity) as quantity,
      sum(f.fee_cents) as fee_cents,
      sum(f.quantity * case f.book_side when 'yes' then f.price else 100 - f.price end)
        as value_cents,
      max(f.trade_id) filter (where f.is_taker) as last_taken,
      min(f.trade_id) filter (where not f.is_taker) as first_made
    from trading.fill_sides() as f
    group by f.order_id
  ),
  all_orders as not materialized (
    select o.* from trading.orders as o
    union all
    select a.* from trading.archived_orders as a
  ),
  -- Orders of which their trades say something else.
  misstated as (
    select o.public_id, o.filled_quantity, o.fee_cents, o.budget_cents,
      coalesce(f.quantity, 0) as traded_quantity, coalesce(f.fee_cents, 0) as traded_fee_cents,
      f.value_cents + f.fee_cents as spent_cents
    from trading.orders as o
    left join fills as f on f.order_id = o.id
    where o.filled_quantity <> coalesce(f.quantity, 0)
      or o.fee_cents <> coalesce(f.fee_cents, 0)
      or f.value_cents + f.fee_cents > o.budget_cents
  ),
  -- Keys that differ from their order.
  strange_keys as (
    select k.key, k.user_id, k.created_at, o.user_id as order_user_id, o.created_at as ordered_at
    from trading.idempotency_keys as k
    left join all_orders as o on o.id = k.order_id
    where k.order_id is not null
      and (k.user_id, k.created_at) is distinct from (o.user_id, o.created_at)
  ),
  met as not materialized (
    select x.user_id, x.market_id, x.created_at, x.released_at, x.cancelled_at, x.cancel_reason,
      x.public_id, (x.side = 'yes') = (x.order_type = 'buy') as is_yes
    from all_orders as x
  )
  select 'filled quantity equals the trades', 'order ' || o.public_id,
    o.traded_quantity::text, o.filled_quantity::text
  from misstated as o
  where o.filled_quantity <> o.traded_quantity

  union all
  select 'order fee equals the fees of its trades', 'order ' || o.public_id,
    o.traded_fee_cents::text, o.fee_cents::text
  from misstated as o
  where o.fee_cents <> o.traded_fee_cents

  -- Only buys have a budget, so the stored side is their own.
  union all
  select 'fills are within the budget of their order', 'order ' || o.public_id,
    '<= ' || o.budget_cents, o.spent_cents::text
  from misstated as o
  where o.spent_cents > o.budget_cents

  union all
  select 'order takes before it makes', 'order ' || f.order_id,
    'trades after ' || f.last_taken, 'trade ' || f.first_made
  from fills as f
  where f.first_made < f.last_taken

  union all
  select 'order has its user and market', 'order ' || o.public_id, 'both', 'not both'
  from trading.orders as o
  where not exists (select from identity.users as u where u.id = o.user_id)
    or not exists (select from trading.market_state as b where b.market_id = o.market_id)

  union all
  select 'archived order has its user and market', 'order ' || a.public_id, 'both', 'not both'
  from trading.archived_orders as a
  where not exists (select from identity.users as u where u.id = a.user_id)
    or not exists (select from trading.market_state as b where b.market_id = a.market_id)

  union all
  select 'archived order is nowhere else', 'order ' || a.public_id, 'archived', 'archived and not'
  from trading.archived_orders as a
  where exists (select from trading.orders as o where o.id = a.id)
    or exists (select from trading.orders as o where o.public_id = a.public_id)

  union all
  select 'orders are those that were placed', 'market ' || b.market_id,
    b.placed_count || ' with ids that sum to ' || b.placed_id_sum,
    coalesce(o.order_count, 0) || ' with ids that sum to ' || coalesce(o.id_sum, 0)
  from trading.market_state as b
  left join (
    select x.market_id, count(*) as order_count, sum(x.id) as id_sum
    from all_orders as x
    group by x.market_id
  ) as o on o.market_id = b.market_id
  where b.placed_count <> coalesce(o.order_count, 0)
    or b.placed_id_sum <> coalesce(o.id_sum, 0)

  union all
  select 'order is of a form that can be placed', 'order ' || o.public_id, 'one of the forms',
    concat_ws(' ', o.order_type, o.time_in_force,
      case when o.post_only then 'post-only' end, 'budget ' || o.budget_cents)
  from all_orders as o
  where o.post_only and o.time_in_force <> 'gtc'
    or o.budget_cents is not null and (o.order_type = 'sell' or o.time_in_force = 'gtc')

  union all
  select 'order has the status that fits what it is', 'order ' || o.public_id, 'another status',
    concat_ws(' ', o.status, o.time_in_force, o.filled_quantity || ' of ' || o.quantity,
      'release at ' || o.release_at, 'released at ' || o.released_at)
  from all_orders as o
  where case
    when o.status in ('open', 'partially_filled')
      then o.time_in_force <> 'gtc' or (o.release_at is null) <> (o.released_at is null)
    when o.status = 'scheduled' then o.released_at is not null
    when o.status = 'filled' then (o.release_at is null) <> (o.released_at is null)
      or o.quantity = 0 or o.filled_quantity <> o.quantity
    else o.filled_quantity > o.quantity
      or o.budget_cents is null and o.filled_quantity = o.quantity
  end
    or (o.status = 'cancelled') <> (o.cancel_reason is not null)
    or o.budget_cents is not null and o.filled_quantity <> o.quantity
    or o.released_at is not null and (o.release_at is null or o.released_at < o.release_at)
    or o.release_at < o.created_at

  -- The public id has the time in which it was drawn, a moment after that of the order. Both are of
  -- one transaction, so a clock that is set between transactions changes nothing here.
  union all
  select 'order has the time of its public id', 'order ' || o.public_id,
    'within an hour of ' || core.uuid_v7_time(o.public_id), o.created_at::text
  from all_orders as o
  where abs(date_part('epoch', o.created_at - core.uuid_v7_time(o.public_id))) > 3600

  union all
  select 'order expires after it was placed', 'order ' || o.public_id,
    '> ' || o.created_at, o.expires_at::text
  from all_orders as o
  where o.expires_at <= o.created_at

  union all
  select 'order waits no longer than an event may ask for', 'order ' || o.public_id,
    '<= ' || o.created_at + interval '1 minute', o.release_at::text
  from all_orders as o
  where o.release_at > o.created_at + interval '1 minute'

  -- What can end an order depends on where it is: in its delay, at its placing or release, or on
  -- the book. An order that may not rest ends at its placing or release, or in its delay. A dead
  -- man's switch can end it at its release.
  union all
  select 'order is cancelled for a reason that fits it', 'order ' || o.public_id, 'another reason',
    concat_ws(' ', o.cancel_reason, o.order_type, o.time_in_force,
      o.filled_quantity || ' of ' || o.quantity, 'at ' || o.cancelled_at,
      'placed at ' || o.created_at, 'release at ' || o.release_at, 'released at ' || o.released_at,
      'expires at ' || o.expires_at)
  from all_orders as o
  cross join lateral (
    select
      o.release_at is not null and o.released_at is null as is_waiting,
      coalesce(o.released_at, o.created_at) as taken_at
  ) as x
  where o.status = 'cancelled'
    and (
      case o.cancel_reason
        when 'expired' then o.expires_at is null or o.expires_at > o.cancelled_at
        when 'user_amended' then o.budget_cents is not null or o.expires_at <= o.cancelled_at
        when 'self_trade' then o.time_in_force <> 'gtc'
          and (o.released_at is null or o.filled_quantity > 0 or o.cancelled_at <> o.released_at)
        when 'post_only_would_cross' then not o.post_only
          or o.released_at is null or o.filled_quantity > 0 or o.cancelled_at <> o.released_at
        when 'insufficient_liquidity' then o.time_in_force = 'gtc' and not (
          -- It ended where it, or its batch, had cancelled as many makers as may be.
          o.filled_quantity > 0
          and o.cancelled_at = x.taken_at
          and trading.most_cancelled() <= (
            select count(*)
            from all_orders as c
            where c.cancelled_at = o.cancelled_at
              and c.cancel_reason in (
                'insufficient_funds', 'position_insufficient', 'loss_limit', 'self_trade'
              )
          )
        )
        when 'position_insufficient' then o.order_type = 'buy'
        when 'insufficient_funds' then o.order_type = 'sell'
        when 'loss_limit' then o.order_type = 'sell'
        else false
      end
      or x.is_waiting and o.cancel_reason not in (
        'user_cancelled', 'user_amended', 'market_closed', 'expired', 'trading_paused',
        'self_excluded'
      )
      or o.time_in_force = 'fok' and o.filled_quantity > 0
      or o.time_in_force <> 'gtc' and not x.is_waiting and (
        o.cancelled_at <> x.taken_at
        or o.cancel_reason = 'user_amended'
        or o.filled_quantity > 0 and o.cancel_reason <> 'insufficient_liquidity'
        or o.released_at is null and o.filled_quantity = 0
      )
    )

  -- At its release an order ends by itself; on the book it makes way for one that takes then.
  union all
  select 'order that ended for a self-trade met an order of its user', 'order ' || o.public_id,
    'an order of the other side, matched at ' || o.cancelled_at, 'none'
  from met as o
  where o.cancel_reason = 'self_trade'
    and o.cancelled_at is distinct from o.released_at
    and not exists (
      select from met as n
      where (n.user_id, n.market_id, n.is_yes) = (o.user_id, o.market_id, not o.is_yes)
        and n.created_at = o.cancelled_at
    )
    and not exists (
      select from met as n
      where (n.user_id, n.market_id, n.is_yes) = (o.user_id, o.market_id, not o.is_yes)
        and n.released_at = o.cancelled_at
    )

  union all
  select 'amended order has its replacement', 'order ' || o.public_id,
    concat_ws(' ', 'an order of the same form, made at', o.cancelled_at), 'none'
  from all_orders as o
  where o.cancel_reason = 'user_amended'
    and not exists (
      select from all_orders as n
      where n.market_id = o.market_id
        and n.user_id = o.user_id
        and n.side = o.side
        and n.order_type = o.order_type
        and n.time_in_force = o.time_in_force
        and n.post_only = o.post_only
        and n.created_at = o.cancelled_at
        and n.expires_at is not distinct from o.expires_at
        and n.budget_cents is null
        and n.id > o.id
    )

  union all
  select 'replacement takes the place of an amended order', 'order ' || r.order_id,
    'an order of its user and market, amended when it was made', 'order ' || r.replaced_order_id
  from trading.order_replacements as r
  left join all_orders as n on n.id = r.order_id
  left join all_orders as o on o.id = r.replaced_order_id
  where (o.market_id, o.user_id, o.cancel_reason, o.cancelled_at)
    is distinct from (n.market_id, n.user_id, 'user_amended'::trading.cancel_reason, n.created_at)

  union all
  select 'reductions of an order lead to its quantity', 'order ' || r.order_id,
    coalesce(r.expected::text, 'an order'), r.quantity_after::text
  from (
    select x.order_id, x.quantity_after,
      coalesce(
        lead(x.quantity_before) over (partition by x.order_id order by x.quantity_after desc),
        o.quantity
      ) as expected
    from trading.order_reductions as x
    left join all_orders as o on o.id = x.order_id
  ) as r
  where r.expected is distinct from r.quantity_after

  union all
  select 'idempotency key stands for an order of its user', 'key ' || k.key,
    'an order of user ' || k.user_id, coalesce('of user ' || k.order_user_id, 'none')
  from strange_keys as k
  where k.order_user_id is distinct from k.user_id

  union all
  select 'idempotency key stands for an order or for another command', 'key ' || k.key,
    'one of the two', case when k.order_id is null then 'neither' else 'both' end
  from trading.idempotency_keys as k
  where case
    when k.order_id is null then k.request_fingerprint is null
    else k.reply is not null or k.cancelled_orders is not null
  end

  union all
  select 'idempotency key is as old as its order', 'key ' || k.key,
    k.ordered_at::text, k.created_at::text
  from strange_keys as k
  where k.created_at <> k.ordered_at
$$;

comment on function trading.verify_orders() is
  'The part of ledger.verify() about orders, archived ones included: none is missing, each is what '
  'its trades made of it, and could have been placed and ended that way. One row for each broken '
  'invariant.';
