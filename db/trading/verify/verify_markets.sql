create or replace function trading.verify_markets()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  trade_sums as (
    select
      t.market_id,
      count(*) as trade_count,
      sum(t.quantity::bigint * t.price) as yes_volume_cents,
      sum(t.quantity::bigint * (100 - t.price)) as no_volume_cents,
      sum(t.fee_cents) as fee_cents,
      max(t.id) as last_trade_id
    from trading.trades as t
    group by t.market_id
  )
  select 'market has its book and its accounts', 'market ' || m.id, 'both', 'none'
  from catalog.markets as m
  where not exists (select from trading.market_state as b where b.market_id = m.id)

  union all
  select 'market is of an event of its category', 'market ' || m.id,
    'category ' || m.category_id, 'category ' || e.category_id
  from catalog.markets as m
  join catalog.events as e on e.id = m.event_id
  where e.category_id <> m.category_id

  -- The event of a market never changes. Where the market was made by no operator's call, as in an
  -- import, only its orders show that it has one.
  union all
  select 'market is of the event that it was made for', 'market ' || m.id,
    coalesce(l.arguments ->> 'event_id', 'none'), coalesce(e.public_id::text, 'none')
  from catalog.markets as m
  join admin.audit_log as l
    on l.action = 'create_market' and l.arguments ->> 'market_id' = m.public_id::text
  left join catalog.events as e on e.id = m.event_id
  where l.arguments ->> 'event_id' is distinct from e.public_id::text

  union all
  select 'market whose orders waited has an event', 'market ' || m.id, 'an event', 'none'
  from catalog.markets as m
  where m.event_id is null
    and m.id in (
      select o.market_id from trading.orders as o where o.release_at is not null
      union all
      select a.market_id from trading.archived_orders as a where a.release_at is not null
    )

  union all
  select 'market figures equal its trades', 'market ' || b.market_id,
    concat_ws(' ', coalesce(t.trade_count, 0), coalesce(t.yes_volume_cents, 0),
      coalesce(t.no_volume_cents, 0)),
    concat_ws(' ', b.trade_count, b.yes_volume_cents, b.no_volume_cents)
  from trading.market_state as b
  left join trade_sums as t on t.market_id = b.market_id
  where (b.trade_count, b.yes_volume_cents, b.no_volume_cents)
    <> (
      coalesce(t.trade_count, 0), coalesce(t.yes_volume_cents, 0),
      coalesce(t.no_volume_cents, 0)
    )

  union all
  select 'last trade price is that of the last trade', 'market ' || b.market_id,
    coalesce(t.price::text, 'none'), coalesce(b.last_trade_price::text, 'none')
  from trading.market_state as b
  left join trade_sums as s on s.market_id = b.market_id
  left join trading.trades as t on t.id = s.last_trade_id
  where b.last_trade_price is distinct from t.price

  union all
  select 'traders count equals who traded', 'market ' || b.market_id,
    coalesce(p.traders, 0)::text, b.traders_count::text
  from trading.market_state as b
  left join (
    select x.market_id, count(*) as traders
    from (
      select t.market_id, t.taker_user_id as user_id from trading.trades as t
      union
      select t.market_id, t.maker_user_id from trading.trades as t
    ) as x
    group by x.market_id
  ) as p on p.market_id = b.market_id
  where b.traders_count <> coalesce(p.traders, 0)

  union all
  select 'fee revenue equals the fees of the trades less the payouts', 'market ' || b.market_id,
    (coalesce(t.fee_cents, 0) - coalesce(p.paid_cents, 0) - coalesce(v.returned_cents, 0))::text,
    b.revenue_cents::text
  from trading.market_state as b
  left join trade_sums as t on t.market_id = b.market_id
  left join (
    select e.account_id, -sum(e.amount_cents) as paid_cents
    from ledger.fee_payouts as f
    join ledger.posted_entries as e on e.journal_id = f.journal_id
    group by e.account_id
  ) as p on p.account_id = ledger.revenue_account_id(b.market_id)
  left join (
    select x.market_id, sum(x.fee_cents - x.outside_cents) as returned_cents
    from trading.voids as x
    group by x.market_id
  ) as v on v.market_id = b.market_id
  where b.revenue_cents
    <> coalesce(t.fee_cents, 0) - coalesce(p.paid_cents, 0) - coalesce(v.returned_cents, 0)

  -- Cancels and releases raise it as well, and leave nothing that could be counted.
  union all
  select 'version counts at least the orders that came without delay', 'market ' || b.market_id,
    '>= ' || o.order_count, b.version::text
  from trading.market_state as b
  join (
    select x.market_id, count(*) as order_count
    from (
      select o.market_id from trading.orders as o where o.release_at is null
      union all
      select a.market_id from trading.archived_orders as a where a.release_at is null
    ) as x
    group by x.market_id
  ) as o on o.market_id = b.market_id
  where b.version < o.order_count

  union all
  select 'category counts its events and markets', 'category ' || c.slug,
    concat_ws(' ', coalesce(e.event_count, 0), coalesce(m.open_count, 0),
      coalesce(m.closed_count, 0), coalesce(m.paused_count, 0)),
    concat_ws(' ', c.event_count, c.open_market_count, c.closed_market_count,
      c.paused_market_count)
  from catalog.categories as c
  left join (
    select x.category_id, count(*) as event_count
    from catalog.events as x
    group by x.category_id
  ) as e on e.category_id = c.id
  left join (
    select x.category_id,
      count(*) filter (where x.status = 'open') as open_count,
      count(*) filter (where x.status in ('closed', 'resolved')) as closed_count,
      count(*) filter (where x.status = 'paused') as paused_count
    from catalog.markets as x
    group by x.category_id
  ) as m on m.category_id = c.id
  where (c.event_count, c.open_market_count, c.closed_market_count, c.paused_market_count)
    <> (
      coalesce(e.event_count, 0), coalesce(m.open_count, 0), coalesce(m.closed_count, 0),
      coalesce(m.paused_count, 0)
    )

  union all
  select 'market stands in its lists', 'market ' || coalesce(m.id, l.market_id),
    coalesce(m.lists, 'none'), coalesce(l.lists, 'none')
  from (
    select x.id, string_agg(
      concat_ws(' ', c.list, 'of', c.category_id, 'until', coalesce(x.close_time, 'infinity')),
      ', ' order by c.list, c.category_id
    ) as lists
    from catalog.markets as x
    cross join lateral (
      select l.list, k.category_id
      from (values ('all', true), ('open', x.status = 'open'),
        ('closed', x.status in ('closed', 'resolved'))) as l (list, has_it)
      cross join (values (0), (x.category_id)) as k (category_id)
      where l.has_it
    ) as c
    group by x.id
  ) as m
  full join (
    select x.market_id, string_agg(
      concat_ws(' ', x.list, 'of', x.category_id, 'until', x.close_time),
      ', ' order by x.list, x.category_id
    ) as lists
    from catalog.market_listings as x
    group by x.market_id
  ) as l on l.market_id = m.id
  where m.lists is distinct from l.lists

  union all
  select 'event stands in its list', 'event ' || coalesce(m.event_id, l.event_id),
    coalesce(concat_ws(' until ', n.list, n.close_time), 'none'),
    coalesce(concat_ws(' until ', l.list, l.close_time), 'none')
  from (
    select distinct x.event_id from catalog.markets as x where x.event_id is not null
  ) as m
  cross join lateral catalog.event_listing(m.event_id) as n
  full join catalog.event_listings as l on l.event_id = m.event_id
  where (n.list, n.close_time) is distinct from (l.list, l.close_time)
$$;

comment on function trading.verify_markets() is
  'The part of ledger.verify() about markets: each is of its event, and the figures that are kept '
  'of markets and categories are the sums of what they count. One row for each broken invariant.';
