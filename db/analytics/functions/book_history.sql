-- Books of the past are not stored; they are computed from the orders:
--
--   the moments that were asked for, at most so many
--   resting, fills: from when to when each order rested, and what it lost meanwhile
--   changes, by_moment: what each order had on the book by each moment
--   by_order, by_level, levels: added up from moment to moment
create or replace function analytics.book_history(
  market_id uuid, step interval, since timestamptz, until timestamptz
)
returns table (
  at timestamptz, side text, yes_price_cents int, quantity bigint, order_count bigint
)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  c_most_moments constant int := 2000;
  v_market_key constant bigint := analytics.market_key(book_history.market_id);
  v_problem text;
  v_hint text;
  v_count numeric;
  v_moments timestamptz[];
begin
  if book_history.step is null or book_history.since is null or book_history.until is null then
    v_problem := 'The arguments step, since and until are required';
  elsif not isfinite(book_history.since) or not isfinite(book_history.until) then
    v_problem := 'The start (since) and the end (until) must be finite';
    v_hint := 'The book of a market begins at its created_at and is known until analytics.now().';
  elsif book_history.until < book_history.since then
    v_problem := 'The end (until) must not be before the start (since)';
  elsif book_history.step <= interval '0' then
    v_problem := format('The step must be above zero, not %s', book_history.step);
  elsif least(
    extract(year from book_history.step), extract(month from book_history.step),
    extract(day from book_history.step), extract(hour from book_history.step),
    extract(minute from book_history.step), extract(second from book_history.step)
  ) < 0 then
    -- It would be above zero by months of 30 days, and could go back in a shorter one.
    v_problem := format('No part of the step may be below zero, as in %s', book_history.step);
  else
    v_count := 1 + trunc(
      extract(epoch from book_history.until - book_history.since)
        / extract(epoch from book_history.step)
    );
    if v_count > c_most_moments then
      v_problem := format(
        'The book at %s moments is too much; the maximum is %s moments',
        v_count, c_most_moments
      );
      v_hint := format(
        'Ask for a step of %s or more, or for a shorter time.',
        make_interval(secs => ceil(
          extract(epoch from book_history.until - book_history.since) / (c_most_moments - 1)
        )::float8)
      );
    end if;
  end if;
  if v_problem is not null then
    raise exception using
      errcode = 'EX001',
      message = v_problem,
      detail = 'INVALID_REQUEST',
      hint = coalesce(v_hint, '');
  end if;

  -- Steps of days and months are counted in UTC.
  v_moments := array(
    select s.at at time zone 'UTC'
    from generate_series(
      book_history.since at time zone 'UTC', book_history.until at time zone 'UTC',
      book_history.step
    ) as s (at)
    order by s.at
  );

  return query
  with
  fills as materialized (
    select f.order_key, f.created_at, f.quantity
    from analytics.fills as f
    where f.market_key = v_market_key
      and f.created_at > book_history.since
  ),
  resting as materialized (
    select
      o.order_key,
      o.book_side,
      o.yes_price_cents,
      greatest(coalesce(o.released_at, o.created_at), book_history.since) as entered_at,
      coalesce(r.quantity, o.quantity) - o.filled_quantity + coalesce(f.quantity, 0)
        as entered_quantity,
      least(o.cancelled_at, o.expires_at) as left_at,
      o.quantity - o.filled_quantity as left_quantity
    from analytics.markets as m
    join analytics.orders as o on o.market_key = m.market_key
    left join (
      select x.order_key, sum(x.quantity) as quantity
      from fills as x
      group by x.order_key
    ) as f on f.order_key = o.order_key
    left join lateral (
      select max(x.quantity_before) as quantity
      from analytics.order_reductions as x
      where x.order_key = o.order_key
        and x.reduced_at > book_history.since
    ) as r on true
    where m.market_key = v_market_key
      and o.created_at between m.created_at and book_history.until
      and (o.release_at is null or o.released_at <= book_history.until)
      -- Some never rest: what leaves as it comes, or expires before it is released.
      and coalesce(
        least(o.cancelled_at, o.expires_at)
          > greatest(coalesce(o.released_at, o.created_at), book_history.since),
        true
      )
  ),
  changes as (
    select r.order_key, r.entered_at as at, r.entered_quantity as quantity
    from resting as r
    union all
    select f.order_key, f.created_at, - f.quantity
    from fills as f
    union all
    select x.order_key, x.reduced_at, x.quantity_after - x.quantity_before
    from resting as r
    join analytics.order_reductions as x on x.order_key = r.order_key
    where x.reduced_at > book_history.since
    union all
    select r.order_key, r.left_at, - r.left_quantity
    from resting as r
    where r.left_at is not null
  ),
  -- By the first moment at which each change has happened.
  by_moment as (
    select
      c.order_key,
      case when v_moments[b.before] = c.at then b.before else b.before + 1 end as moment,
      sum(c.quantity) as quantity
    from changes as c
    cross join lateral (select width_bucket(c.at, v_moments) as before) as b
    where c.at <= v_moments[cardinality(v_moments)]
    group by 1, 2
  ),
  by_order as (
    select
      c.order_key, c.moment, c.quantity,
      sum(c.quantity) over (partition by c.order_key order by c.moment) as left_quantity
    from by_moment as c
  ),
  by_level as materialized (
    select
      r.book_side,
      r.yes_price_cents,
      o.moment,
      sum(o.quantity) as quantity,
      sum((o.left_quantity > 0)::int - (o.left_quantity > o.quantity)::int) as order_count
    from by_order as o
    join resting as r on r.order_key = o.order_key
    group by r.book_side, r.yes_price_cents, o.moment
  ),
  levels as (
    select
      m.at,
      l.book_side,
      l.yes_price_cents,
      sum(c.quantity) over w as quantity,
      sum(c.order_count) over w as order_count
    from (select distinct x.book_side, x.yes_price_cents from by_level as x) as l
    cross join unnest(v_moments) with ordinality as m (at, moment)
    left join by_level as c
      on c.book_side = l.book_side
      and c.yes_price_cents = l.yes_price_cents
      and c.moment = m.moment
    window w as (partition by l.book_side, l.yes_price_cents order by m.moment)
  )
  select
    l.at, l.book_side, l.yes_price_cents, l.quantity::bigint, l.order_count::bigint
  from levels as l
  where l.quantity > 0
  order by l.at, l.book_side, l.yes_price_cents;
end
$$;

comment on function analytics.book_history(uuid, interval, timestamptz, timestamptz) is
  'The books of a market at since and at each step after it, until included: bids and asks in YES '
  'prices, after all that happened at each time. A time with an empty book has no row. Steps of '
  'days and months are counted in UTC; at most 2,000 times. In the order of times, sides and '
  'prices. However many times, it reads the trades of the market once, and once the orders of all '
  'markets, since those that are over have no index by market. Errors: NOT_FOUND, INVALID_REQUEST.';
