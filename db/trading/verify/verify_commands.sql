-- A reply is text, and no JSON is parsed: one that is no JSON any more must give a row, and not end
-- the proof. The bodies in the reply to a batch are strings in a string: before each of their
-- quotes is a backslash, for which the pattern has a dot.
create or replace function trading.verify_commands()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  all_orders as not materialized (
    select o.id, o.public_id, o.user_id, o.status from trading.orders as o
    union all
    select a.id, a.public_id, a.user_id, a.status from trading.archived_orders as a
  )
  select 'idempotency key belongs to a user', 'key ' || k.key, 'user ' || k.user_id, 'none'
  from trading.idempotency_keys as k
  where not exists (select from trading.traders as t where t.user_id = k.user_id)

  union all
  select 'reply is about orders of its user', 'key ' || r.key, 'orders of user ' || r.user_id,
    'order ' || r.order_id
  from (
    select k.key, k.user_id, m.found[1] as order_id
    from trading.idempotency_keys as k
    cross join lateral regexp_matches(
      k.reply, '"order.?":[{].?"id.?":.?"(.{36})', 'g'
    ) as m (found)
  ) as r
  left join all_orders as o on o.public_id::text = r.order_id
  where o.user_id is distinct from r.user_id

  union all
  select 'order that a reply calls cancelled is cancelled', 'key ' || r.key,
    'order ' || r.order_id || ' cancelled', o.status::text
  from (
    select k.key, substring(k.reply from '^[{]"order":[{]"id":"(.{36})') as order_id
    from trading.idempotency_keys as k
    where k.reply ~ '^[{]"order":[{][^}]*"status":"cancelled"'
  ) as r
  join all_orders as o on o.public_id::text = r.order_id
  where o.status <> 'cancelled'

  union all
  select 'order that an operator cancelled is cancelled', 'call ' || c.id,
    'order ' || c.order_id || ' cancelled', coalesce(o.status::text, 'none')
  from (
    select a.id, x.order_id
    from admin.audit_log as a
    cross join lateral jsonb_array_elements_text(
      case jsonb_typeof(a.arguments -> 'order_ids') when 'array' then a.arguments -> 'order_ids' end
    ) as x (order_id)
    where a.action = 'cancel_orders'
  ) as c
  left join all_orders as o on o.public_id::text = c.order_id
  where o.status is distinct from 'cancelled'

  union all
  select 'reply of a split or merge has its conversion', 'key ' || r.key,
    r.quantity || ' sets in market ' || r.market_id, 'none'
  from (
    select k.key, k.user_id, k.created_at, m.found[1] as market_id, m.found[2] as quantity
    from trading.idempotency_keys as k
    cross join lateral regexp_matches(
      k.reply, '^[{]"marketId":"([^"]*)","quantity":([0-9]+),'
    ) as m (found)
  ) as r
  where not exists (
    select
    from trading.set_conversions as c
    join catalog.markets as m on m.id = c.market_id
    where c.user_id = r.user_id
      and m.public_id::text = r.market_id
      and c.quantity::text = r.quantity
      and core.is_within_an_hour(c.created_at, r.created_at)
  )

  union all
  select 'dead man''s switch belongs to a user', 'switch of user ' || s.user_id, 'a user', 'none'
  from trading.dead_man_switches as s
  where not exists (select from trading.traders as t where t.user_id = s.user_id)

  union all
  select 'switch that fires goes up to an order of its user', 'switch of user ' || s.user_id,
    'an order of the user', 'order ' || s.last_order_id
  from trading.dead_man_switches as s
  left join all_orders as o on o.id = s.last_order_id
  where s.last_order_id <> 0
    and o.user_id is distinct from s.user_id

  union all
  select 'switch that fires says when', 'switch of user ' || s.user_id,
    s.expires_at::text, s.last_fired_at::text
  from trading.dead_man_switches as s
  where s.last_fired_at is distinct from s.expires_at
    and s.fired_at is not null

  union all
  select 'stop of orders goes up to an order of its user', 'stop of user ' || s.user_id,
    'an order of the user', 'order ' || s.last_order_id
  from trading.order_stops as s
  left join all_orders as o on o.id = s.last_order_id
  where o.user_id is distinct from s.user_id
$$;

comment on function trading.verify_commands() is
  'The part of ledger.verify() about what idempotency keys of commands, dead man''s switches and '
  'stops of orders stand for. One row for each broken invariant.';
