-- Only events behind the last one that was removed count. A clock that was set back can have sent
-- later events into an older partition, which is dropped with it.
create or replace function trading.verify_events()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  kept as not materialized (
    select e.*
    from trading.sent_events as e
    where e.id > (select r.removed_through_id from trading.outbox_relay as r)
  ),
  announced as (
    select u.trade_id, e.id as event_id, e.traded_at, (e.sent_at at time zone 'UTC')::date as day
    from kept as e
    cross join lateral unnest(e.trade_ids) as u (trade_id)
  )
  -- After a restore or a failover both numbers go on from the microseconds of the clock.
  select 'event follows the one before', 'event ' || x.id,
    'event ' || x.id_before + x.ids || ' at ' || x.position_before + x.width,
    'at ' || x.position
  from (
    select e.id, e.position,
      trading.ids_of_event(e.payload) as ids,
      1 + coalesce(cardinality(e.trade_ids), 0) as width,
      lag(e.id) over by_id as id_before,
      lag(e.position) over by_id as position_before,
      floor(extract(epoch from e.sent_at) * 1000000)::bigint as restart
    from kept as e
    window by_id as (order by e.id)
  ) as x
  where (x.id, x.position) <> (x.id_before + x.ids, x.position_before + x.width)
    and (x.id, x.position) <> (
      greatest(x.id_before + 1, x.restart) + x.ids,
      greatest(x.position_before + 1, x.restart) + x.width
    )

  union all
  select 'last event is that of the relay', 'event ' || r.last_event_id,
    r.last_event_id || ' at ' || r.last_position, e.id || ' at ' || e.position
  from trading.outbox_relay as r
  cross join (
    select max(x.id) as id, max(x.position) as position from kept as x
  ) as e
  where (e.id, e.position) <> (r.last_event_id, r.last_position)

  union all
  select 'last event is that of the relay', 'row of trading.outbox_relay', '1', '0'
  where not exists (select from trading.outbox_relay)

  union all
  select 'event is of trades of its time', 'event ' || a.event_id,
    'trade ' || a.trade_id || ' of ' || a.traded_at, coalesce('of ' || t.created_at, 'none')
  from announced as a
  left join trading.trades as t on t.id = a.trade_id
  where t.created_at is distinct from a.traded_at

  -- Trades of the first day may have been announced the day before.
  union all
  select 'trade is announced once', 'trade ' || t.id, '1', coalesce(s.count, 0)::text
  from trading.trades as t
  left join (
    select x.trade_id, count(*) as count
    from (
      select a.trade_id from announced as a
      union all
      select u.trade_id
      from trading.outbox as o
      cross join lateral unnest(o.trade_ids) as u (trade_id)
    ) as x
    group by x.trade_id
  ) as s on s.trade_id = t.id
  where t.id > (
      select max(a.trade_id)
      from announced as a
      where a.day = (select min(b.day) from announced as b)
    )
    and coalesce(s.count, 0) <> 1

  union all
  select 'event of a user is of that user', 'event ' || e.id,
    coalesce('user ' || t.user_id, 'no user'), coalesce('user ' || e.user_id, 'no user')
  from kept as e
  left join trading.traders as t on t.public_id::text = e.payload ->> 'userId'
  where e.kind = 'user_event'
    and e.user_id is distinct from t.user_id

  union all
  select 'event says why its order was cancelled', 'event ' || e.id,
    coalesce(o.cancel_reason::text, 'no cancelled order'),
    e.payload -> 'event' ->> 'cancelReason'
  from kept as e
  left join (
    select x.public_id, x.cancel_reason from trading.orders as x
    union all
    select y.public_id, y.cancel_reason from trading.archived_orders as y
  ) as o on o.public_id::text = e.payload -> 'event' ->> 'orderId'
  where e.kind = 'user_event'
    and e.payload -> 'event' ->> 'type' = 'order_cancelled'
    and o.cancel_reason::text is distinct from e.payload -> 'event' ->> 'cancelReason'
$$;

comment on function trading.verify_events() is
  'The part of ledger.verify() about the events that user streams continue from: none is missing '
  'between two others, and they fit the trades and orders that they are about. One row for each '
  'broken invariant.';
