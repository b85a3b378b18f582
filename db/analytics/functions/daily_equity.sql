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
  v_last_day date;
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

  -- Days that are not over have no row.
  v_last_day := least(
    daily_equity.until - 1, (analytics.now() at time zone 'UTC')::date - 1
  );

  return query
  with
  traded as materialized (
    select s.user_key, t.market_key, s.side, t.day, sum(s.sign * t.quantity) as quantity,
      max(t.trade_key) as last_trade_key
    from (
      select x.*, (x.created_at at time zone 'UTC')::date as day
      from analytics.trades as x
    ) as t
    cross join lateral (
      values
        (t.taker_user_key, t.taker_side, case t.taker_order_type when 'buy' then 1 else -1 end),
        (t.maker_user_key, t.maker_side, case t.maker_order_type when 'buy' then 1 else -1 end)
    ) as s (user_key, side, sign)
    group by 1, 2, 3, 4
  ),
  changes as (
    select t.market_key, t.user_key, t.side, t.day, t.quantity,
      -- What came without a trade, and its cost: the value before the first trade.
      0 as made_quantity, 0 as made_cents
    from traded as t
    union all
    select c.market_key, c.user_key, s.side, (c.created_at at time zone 'UTC')::date,
      x.quantity, greatest(x.quantity, 0),
      case when x.quantity > 0 then coalesce(c.cents, 50 * c.quantity) else 0 end
    from analytics.set_conversions as c
    cross join lateral (
      select case when c.yes_realised_cents is null then c.quantity else - c.quantity end
    ) as x (quantity)
    cross join (values ('yes'), ('no')) as s (side)
    where c.side is null or c.side = s.side
    union all
    select s.market_key, s.user_key, s.side, (r.created_at at time zone 'UTC')::date, - s.quantity,
      0, 0
    from analytics.resolutions as r
    join analytics.settlements as s on s.resolution_key = r.resolution_key
    where r.corrects_resolution_key is null
    union all
    select t.market_key, s.user_key, s.side, (v.created_at at time zone 'UTC')::date,
      case s.order_type when 'buy' then - t.quantity else t.quantity end, 0, 0
    from analytics.voids as v
    join analytics.trades as t on t.trade_key = v.trade_key
    cross join lateral (
      values
        (t.taker_user_key, t.taker_side, t.taker_order_type),
        (t.maker_user_key, t.maker_side, t.maker_order_type)
    ) as s (user_key, side, order_type)
    union all
    select p.market_key, p.user_key, p.side, (v.created_at at time zone 'UTC')::date, - p.quantity,
      0, 0
    from analytics.voids as v
    join analytics.voided_positions as p on p.void_key = v.void_key
    where not exists (
      select from analytics.resolutions as r where r.market_key = p.market_key
    )
  ),
  changes_by_day as (
    select c.market_key, c.user_key, c.side, c.day, sum(c.quantity) as quantity,
      sum(c.made_quantity) as made_quantity, sum(c.made_cents) as made_cents
    from changes as c
    where c.day <= v_last_day
    group by 1, 2, 3, 4
  ),
  holdings as (
    select c.market_key, c.user_key, c.side, c.day,
      sum(c.quantity) over w as quantity, lead(c.day) over w as next_day,
      sum(c.made_cents) over w / nullif(sum(c.made_quantity) over w, 0) as made_price_cents
    from changes_by_day as c
    window w as (partition by c.market_key, c.user_key, c.side order by c.day)
  ),
  held as materialized (
    select h.market_key, h.user_key, h.side, h.quantity, h.made_price_cents,
      greatest(h.day, daily_equity.since) as first_day,
      coalesce(h.next_day - 1, v_last_day) as last_day
    from holdings as h
    where h.quantity > 0
      and (h.next_day is null or h.next_day > daily_equity.since)
  ),
  markets as materialized (
    select h.market_key, min(h.first_day) as first_day, max(h.last_day) as last_day
    from held as h
    group by h.market_key
  ),
  last_trades as (
    select t.market_key, t.day, max(t.last_trade_key) as trade_key,
      lead(t.day) over (partition by t.market_key order by t.day) as next_day
    from traded as t
    where t.day <= v_last_day
    group by t.market_key, t.day
  ),
  marks as (
    select l.market_key, t.yes_price_cents,
      greatest(l.day, m.first_day) as first_day,
      least(l.next_day - 1, m.last_day) as last_day
    from markets as m
    join last_trades as l
      on l.market_key = m.market_key
      and l.day <= m.last_day
      and (l.next_day is null or l.next_day > m.first_day)
    join analytics.trades as t on t.trade_key = l.trade_key
  ),
  -- An order that was filled was in a book until the last fill for which it was the maker.
  filled as (
    select t.maker_order_key as order_key,
      (max(t.created_at) at time zone 'UTC')::date as day
    from analytics.trades as t
    where t.created_at >= (daily_equity.since + 1)::timestamp at time zone 'UTC'
    group by t.maker_order_key
  ),
  lives as (
    select o.market_key, o.book_side, o.yes_price_cents,
      greatest((coalesce(o.released_at, o.created_at) at time zone 'UTC')::date, m.first_day)
        as first_day,
      least(
        (o.cancelled_at at time zone 'UTC')::date - 1,
        (o.expires_at at time zone 'UTC')::date - 1,
        case o.status when 'filled' then f.day - 1 end,
        m.last_day
      ) as last_day
    from analytics.orders as o
    join markets as m on m.market_key = o.market_key
    left join filled as f on f.order_key = o.order_key
    where (o.release_at is null or o.released_at is not null)
      and (o.status <> 'filled' or f.order_key is not null)
  ),
  levels as (
    select l.market_key, l.book_side, l.yes_price_cents,
      range_agg(daterange(l.first_day, l.last_day, '[]')) as occupied
    from lives as l
    where l.first_day <= l.last_day
    group by l.market_key, l.book_side, l.yes_price_cents
  ),
  -- The days of each level less those of all better ones.
  best as (
    select l.market_key, l.book_side, l.yes_price_cents,
      l.occupied - coalesce(range_agg(l.occupied) over better, '{}'::datemultirange) as best
    from levels as l
    window better as (
      partition by l.market_key, l.book_side
      order by case l.book_side when 'bid' then - l.yes_price_cents else l.yes_price_cents end
      rows between unbounded preceding and 1 preceding
    )
  ),
  prices as (
    select m.market_key, 'mark' as kind, m.yes_price_cents, m.first_day, m.last_day
    from marks as m
    union all
    select b.market_key, b.book_side, b.yes_price_cents, lower(d.days), upper(d.days) - 1
    from best as b
    cross join lateral unnest(b.best) as d (days)
  ),
  prices_by_day as (
    select p.market_key, p.first_day + n.place as day,
      max(p.yes_price_cents) filter (where p.kind = 'mark') as mark,
      max(p.yes_price_cents) filter (where p.kind = 'bid') as best_bid,
      max(p.yes_price_cents) filter (where p.kind = 'ask') as best_ask
    from prices as p
    cross join lateral generate_series(0, p.last_day - p.first_day) as n (place)
    group by 1, 2
  ),
  -- Of each market one row, so a holding finds its prices at once, and these by their place.
  series as materialized (
    select m.market_key, m.first_day,
      array_agg(p.mark order by n.place) as marks,
      array_agg(coalesce(p.best_bid, 0) order by n.place) as best_bids,
      array_agg(coalesce(p.best_ask, 100) order by n.place) as best_asks
    from markets as m
    cross join lateral generate_series(0, m.last_day - m.first_day) as n (place)
    left join prices_by_day as p
      on p.market_key = m.market_key
      and p.day = m.first_day + n.place
    group by m.market_key, m.first_day
  ),
  worth as (
    select h.user_key, d.day,
      round(sum(h.quantity * coalesce(
        case h.side when 'yes' then d.mark else 100 - d.mark end, h.made_price_cents
      ))) as mark_value_cents,
      sum(h.quantity * case h.side when 'yes' then d.best_bid else 100 - d.best_ask end)
        as bid_value_cents
    from held as h
    join series as s on s.market_key = h.market_key
    cross join lateral (
      select h.first_day + n.place as day,
        s.marks[x.first + n.place] as mark,
        s.best_bids[x.first + n.place] as best_bid,
        s.best_asks[x.first + n.place] as best_ask
      from (values (1 + h.first_day - s.first_day)) as x (first)
      cross join generate_series(0, h.last_day - h.first_day) as n (place)
    ) as d
    group by h.user_key, d.day
  ),
  days as (
    select daily_equity.since + n.place as day,
      (daily_equity.since + n.place + 1)::timestamp at time zone 'UTC' as ends_at
    from generate_series(0, v_last_day - daily_equity.since) as n (place)
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
  left join worth as v on v.day = d.day and v.user_key = u.user_key
  order by d.day, u.user_key;
end
$$;

comment on function analytics.daily_equity(date, date) is
  'What each account was worth at the end of each UTC day from since on and before until; days '
  'that are not over have no row. Equity is balance_cents plus the value of the shares held then: '
  'mark_value_cents at the last trade price of that moment, before the first trade at what such '
  'shares had cost on average when they were made (50 in a pair); bid_value_cents at the best bid '
  'for their side, however many shares it took, and 0 without a '
  'bid. Resolved markets have no shares: their payout is in the balance. At most 366 days. In the '
  'order of days and users. Reads all orders once, all trades twice, and each holding once for '
  'each day on which it was held. Errors: INVALID_REQUEST.';
