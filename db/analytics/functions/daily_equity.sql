create or replace function analytics.daily_equity(since date, until date)
returns table (
  day date,
  user_key bigint,
  balance_cents bigint,
  net_deposits_cents bigint,
  mark_value_cents bigint,
  bid_value_cents bigint
)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  c_most_days constant int := 366;
begin
  if daily_equity.since is null or daily_equity.until is null
    or daily_equity.until <= daily_equity.since
    or not isfinite(daily_equity.since) or not isfinite(daily_equity.until)
    or daily_equity.until - daily_equity.since > c_most_days
  then
    raise exception using
      errcode = 'EX001',
      message = format(
        'The end (until) must be a day after the start (since), at most %s days', c_most_days
      ),
      detail = 'INVALID_REQUEST',
      hint = 'The day named by until is not in the answer.';
  end if;

  return query
  with
  days as materialized (
    select d.at::date as day, (d.at + interval '1 day') at time zone 'UTC' as ends_at
    from generate_series(
      daily_equity.since::timestamp, daily_equity.until::timestamp - interval '1 day', '1 day'
    ) as d (at)
    where (d.at + interval '1 day') at time zone 'UTC' <= analytics.now()
  ),
  changes as (
    select f.market_key, f.user_key, f.side, f.created_at,
      case f.order_type when 'buy' then f.quantity else - f.quantity end as quantity
    from analytics.fills as f
    union all
    select c.market_key, c.user_key, s.side, c.created_at,
      case when c.yes_realised_cents is null then c.quantity else - c.quantity end
    from analytics.set_conversions as c
    cross join (values ('yes'), ('no')) as s (side)
    where c.side is null or c.side = s.side
    union all
    select s.market_key, s.user_key, s.side, r.created_at, - s.quantity
    from analytics.resolutions as r
    join analytics.settlements as s on s.resolution_key = r.resolution_key
    where r.corrects_resolution_key is null
    union all
    select f.market_key, f.user_key, f.side, v.created_at,
      case f.order_type when 'buy' then - f.quantity else f.quantity end
    from analytics.voids as v
    join analytics.fills as f on f.trade_key = v.trade_key
    union all
    select p.market_key, p.user_key, p.side, v.created_at, - p.quantity
    from analytics.voids as v
    join analytics.voided_positions as p on p.void_key = v.void_key
    where not exists (
      select from analytics.resolutions as r where r.market_key = p.market_key
    )
  ),
  changes_by_day as (
    select c.market_key, c.user_key, c.side, (c.created_at at time zone 'UTC')::date as day,
      sum(c.quantity) as quantity
    from changes as c
    group by 1, 2, 3, 4
  ),
  holdings as (
    select c.market_key, c.user_key, c.side, c.day,
      sum(c.quantity) over w as quantity, lead(c.day) over w as next_day
    from changes_by_day as c
    window w as (partition by c.market_key, c.user_key, c.side order by c.day)
  ),
  held as materialized (
    select d.day, h.user_key, h.market_key, h.side, h.quantity
    from days as d
    join holdings as h on h.day <= d.day and (h.next_day is null or h.next_day > d.day)
    where h.quantity > 0
  ),
  markets as materialized (
    select distinct h.day, h.market_key
    from held as h
  ),
  last_prices as (
    select distinct on (t.market_key, (t.created_at at time zone 'UTC')::date)
      t.market_key, (t.created_at at time zone 'UTC')::date as day, t.yes_price_cents
    from analytics.trades as t
    order by t.market_key, (t.created_at at time zone 'UTC')::date, t.trade_key desc
  ),
  marks as (
    select m.day, m.market_key,
      (array_agg(p.yes_price_cents order by p.day desc))[1] as yes_price_cents
    from markets as m
    join last_prices as p on p.market_key = m.market_key and p.day <= m.day
    group by m.day, m.market_key
  ),
  lives as (
    select
      o.market_key,
      o.book_side,
      o.yes_price_cents,
      coalesce(o.released_at, o.created_at) as from_at,
      least(o.cancelled_at, o.expires_at, case o.status when 'filled' then f.filled_at end)
        as until_at
    from analytics.orders as o
    left join (
      select x.order_key, max(x.created_at) as filled_at
      from analytics.fills as x
      group by x.order_key
    ) as f on f.order_key = o.order_key
    where o.release_at is null or o.released_at is not null
  ),
  books as (
    select m.day, m.market_key,
      max(l.yes_price_cents) filter (where l.book_side = 'bid') as best_bid,
      min(l.yes_price_cents) filter (where l.book_side = 'ask') as best_ask
    from markets as m
    join days as d on d.day = m.day
    join lives as l
      on l.market_key = m.market_key
      and l.from_at < d.ends_at
      and (l.until_at is null or l.until_at >= d.ends_at)
    group by m.day, m.market_key
  ),
  worth as (
    select h.day, h.user_key,
      sum(h.quantity * case h.side
        when 'yes' then coalesce(p.yes_price_cents, 50)
        else 100 - coalesce(p.yes_price_cents, 50)
      end) as mark_value_cents,
      sum(h.quantity * coalesce(
        case h.side when 'yes' then b.best_bid else 100 - b.best_ask end, 0
      )) as bid_value_cents
    from held as h
    left join marks as p on p.day = h.day and p.market_key = h.market_key
    left join books as b on b.day = h.day and b.market_key = h.market_key
    group by h.day, h.user_key
  )
  select
    d.day, u.user_key, coalesce(o.balance_cents, u.balance_cents),
    coalesce(o.net_deposits_cents, u.net_deposits_cents),
    coalesce(v.mark_value_cents, 0)::bigint, coalesce(v.bid_value_cents, 0)::bigint
  from days as d
  join analytics.users as u on u.created_at < d.ends_at
  left join lateral (
    select x.balance_cents, x.net_deposits_cents
    from analytics.day_openings as x
    where x.user_key = u.user_key
      and x.day > d.day
    order by x.day
    limit 1
  ) as o on true
  left join worth as v on v.day = d.day and v.user_key = u.user_key;
end
$$;

comment on function analytics.daily_equity(date, date) is
  'What each account was worth at the end of each UTC day from since on and before until; days '
  'that are not over have no row. Equity is balance_cents plus the value of the shares held then: '
  'mark_value_cents at the last trade price of that moment (50 before the first trade), '
  'bid_value_cents at the best bid for their side, however many shares it took, and 0 without a '
  'bid. Resolved markets have no shares: their payout is in the balance. At most 366 days. Reads '
  'all orders and trades once. Errors: INVALID_REQUEST.';
