-- Multiranges of time: of each price level when an order rested there, and less those of all better
-- levels, when it was the best one.
create or replace function analytics.time_at_best(
  market_id uuid, since timestamptz, until timestamptz
)
returns table (
  order_key bigint,
  user_key bigint,
  side text,
  yes_price_cents int,
  from_at timestamptz,
  until_at timestamptz
)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_key constant bigint := analytics.market_key(time_at_best.market_id);
  v_until constant timestamptz := least(time_at_best.until, analytics.now());
begin
  if time_at_best.since is null or time_at_best.until is null
    or time_at_best.until <= time_at_best.since
  then
    raise exception using
      errcode = 'EX001',
      message = 'The end (until) must be after the start (since)',
      detail = 'INVALID_REQUEST';
  end if;

  return query
  with
  lives as (
    select
      o.order_key,
      o.user_key,
      o.book_side,
      o.yes_price_cents,
      greatest(coalesce(o.released_at, o.created_at), time_at_best.since) as from_at,
      least(
        o.cancelled_at, o.expires_at, case o.status when 'filled' then f.filled_at end, v_until
      ) as until_at
    from analytics.orders as o
    left join (
      select x.order_key, max(x.created_at) as filled_at
      from analytics.fills as x
      where x.market_key = v_market_key
      group by x.order_key
    ) as f on f.order_key = o.order_key
    where o.market_key = v_market_key
      and (o.release_at is null or o.released_at is not null)
  ),
  resting as materialized (
    select l.*, tstzrange(l.from_at, l.until_at) as during
    from lives as l
    where l.from_at < l.until_at
  ),
  levels as (
    select r.book_side, r.yes_price_cents, range_agg(r.during) as occupied
    from resting as r
    group by r.book_side, r.yes_price_cents
  ),
  best as (
    select
      l.book_side,
      l.yes_price_cents,
      l.occupied - coalesce(range_agg(l.occupied) over better, '{}'::tstzmultirange) as best
    from levels as l
    window better as (
      partition by l.book_side
      order by case l.book_side when 'bid' then - l.yes_price_cents else l.yes_price_cents end
      rows between unbounded preceding and 1 preceding
    )
  )
  select r.order_key, r.user_key, r.book_side, r.yes_price_cents, lower(w.at), upper(w.at)
  from resting as r
  join best as b
    on b.book_side = r.book_side
    and b.yes_price_cents = r.yes_price_cents
  cross join lateral unnest(b.best * r.during::tstzmultirange) as w (at)
  order by r.order_key, lower(w.at);
end
$$;

comment on function analytics.time_at_best(uuid, timestamptz, timestamptz) is
  'When each order of a market stood at the best bid or ask, from since on and before until, at '
  'most until now: a row for each stretch of time, exact, from the life of every order. Orders of '
  'one user may stand there at the same time: join their times before you add them up. In the '
  'order of orders and times. Reads the trades of the market twice, and once the orders of all '
  'markets, since those that are over have no index by market. Errors: NOT_FOUND, INVALID_REQUEST.';
