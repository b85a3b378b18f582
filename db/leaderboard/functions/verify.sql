-- What was realised is read from the ledger's side as a whole, and compared with what the
-- leaderboard has taken bit by bit:
--
--   settled, realised: what resolutions, trades and conversions brought, by user, market and day
--   days, then standings: what their sums should be
--   one query for each invariant: days, standings, bands, summaries, wins, escrows, and that no
--   trade, conversion or resolution is passed over
create or replace function leaderboard.verify()
returns table (name text, object text, expected text, found text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  with
  taken_resolutions as (
    select r.id, r.market_id, r.corrects_resolution_id
    from trading.resolutions as r
    join leaderboard.markets as k
      on k.market_id = r.market_id and r.id <= k.last_resolution_id
  ),
  taken_voids as (
    select v.*
    from trading.voids as v
    join leaderboard.markets as k on k.market_id = v.market_id and v.id <= k.last_void_id
  ),
  voided_markets as (
    select v.market_id from taken_voids as v where v.trade_id is null
  ),
  -- Of each market the last resolution counts, on the day of the first.
  settled as (
    select
      m.category_id, s.market_id, s.user_id, s.side, s.cost_cents, s.realised_cents,
      (f.created_at at time zone 'UTC')::date as day
    from taken_resolutions as r
    join trading.resolutions as f
      on f.market_id = r.market_id and f.corrects_resolution_id is null
    join trading.settlements as s on s.resolution_id = r.id
    join catalog.markets as m on m.id = r.market_id
    where not exists (
        select from taken_resolutions as l where l.corrects_resolution_id = r.id
      )
      and r.market_id not in (select v.market_id from voided_markets as v)
  ),
  realised as (
    select s.category_id, s.day, s.user_id, s.realised_cents as pl_cents,
      s.cost_cents as vol_cents, (s.realised_cents > 0)::int as wins, 1 as settled
    from settled as s
    union all
    select m.category_id, (t.created_at at time zone 'UTC')::date, x.user_id, x.pl_cents, 0, 0, 0
    from trading.trades as t
    join leaderboard.markets as k on k.market_id = t.market_id and t.id <= k.last_trade_id
    join catalog.markets as m on m.id = t.market_id
    cross join lateral (
      values
        (t.taker_user_id, t.taker_realised_cents), (t.maker_user_id, t.maker_realised_cents)
    ) as x (user_id, pl_cents)
    where x.pl_cents is not null
      and not exists (select from taken_voids as v where v.trade_id = t.id)
      and t.market_id not in (select v.market_id from voided_markets as v)
    -- Who bought gives the shares back.
    union all
    select m.category_id, (v.created_at at time zone 'UTC')::date, x.user_id, x.pl_cents, 0, 0, 0
    from taken_voids as v
    join trading.trades as t on t.id = v.trade_id
    join catalog.markets as m on m.id = t.market_id
    cross join lateral (
      values
        (t.taker_user_id, t.taker_realised_cents, v.taker_realised_cents),
        (t.maker_user_id, t.maker_realised_cents, v.maker_realised_cents)
    ) as x (user_id, sold_cents, pl_cents)
    where x.sold_cents is null
      and t.market_id not in (select w.market_id from voided_markets as w)
    union all
    select m.category_id, (c.created_at at time zone 'UTC')::date, c.user_id,
      c.yes_realised_cents + c.no_realised_cents, 0, 0, 0
    from trading.set_conversions as c
    join leaderboard.markets as k
      on k.market_id = c.market_id and c.id <= k.last_conversion_id
    join catalog.markets as m on m.id = c.market_id
    where c.yes_realised_cents is not null
      and c.market_id not in (select v.market_id from voided_markets as v)
  ),
  days as (
    select r.day, c.category_id, r.user_id,
      concat_ws(
        ' ', sum(r.pl_cents), sum(r.vol_cents), sum(r.wins), sum(r.settled), count(*)
      ) as figures
    from realised as r
    cross join lateral (values (0::bigint), (r.category_id)) as c (category_id)
    group by r.day, c.category_id, r.user_id
  ),
  standings as (
    select w.window_kind, c.category_id, r.user_id,
      sum(r.pl_cents)::bigint as pl_cents,
      sum(r.vol_cents)::bigint as vol_cents,
      sum(r.wins) as win_count,
      sum(r.settled) as settled_count,
      count(*) as realised_count
    from leaderboard.state as x
    cross join lateral leaderboard.windows(x.day) as w
    join realised as r on r.day >= w.from_day
    cross join lateral (values (0::bigint), (r.category_id)) as c (category_id)
    group by w.window_kind, c.category_id, r.user_id
  )
  select 'day equals what was realised on it',
    concat_ws(' ', coalesce(x.day, d.day), 'category', coalesce(x.category_id, d.category_id),
      'user', coalesce(x.user_id, d.user_id)),
    coalesce(x.figures, 'none'), coalesce(d.figures, 'none')
  from days as x
  full join (
    select y.day, y.category_id, y.user_id,
      concat_ws(
        ' ', y.pl_cents, y.vol_cents, y.win_count, y.settled_count, y.realised_count
      ) as figures
    from leaderboard.days as y
  ) as d
    on d.day = x.day and d.category_id = x.category_id and d.user_id = x.user_id
  where x.figures is distinct from d.figures

  union all
  select 'standing equals what was realised in its window',
    concat_ws(' ', coalesce(x.window_kind, s.window_kind), 'category',
      coalesce(x.category_id, s.category_id), 'user', coalesce(x.user_id, s.user_id)),
    concat_ws(
      ' ', x.pl_cents, x.vol_cents, x.win_count, x.settled_count, x.realised_count, u.public_id
    ),
    concat_ws(
      ' ', s.pl_cents, s.vol_cents, s.win_count, s.settled_count, s.realised_count,
      s.user_public_id
    )
  from standings as x
  left join identity.users as u on u.id = x.user_id
  full join leaderboard.standings as s
    on s.window_kind = x.window_kind
    and s.category_id = x.category_id
    and s.user_id = x.user_id
  where (
    x.pl_cents, x.vol_cents, x.win_count, x.settled_count, x.realised_count, u.public_id
  ) is distinct from (
    s.pl_cents, s.vol_cents, s.win_count, s.settled_count, s.realised_count, s.user_public_id
  )

  union all
  select 'band counts its standings',
    concat_ws(' ', coalesce(x.window_kind, b.window_kind), 'category',
      coalesce(x.category_id, b.category_id), 'band', coalesce(x.band, b.band)),
    coalesce(x.trader_count, 0)::text, coalesce(b.trader_count, 0)::text
  from (
    select s.window_kind, s.category_id, leaderboard.band(s.pl_cents) as band,
      count(*) as trader_count
    from standings as s
    group by 1, 2, 3
  ) as x
  full join leaderboard.bands as b
    on b.window_kind = x.window_kind and b.category_id = x.category_id and b.band = x.band
  where coalesce(x.trader_count, 0) <> coalesce(b.trader_count, 0)

  union all
  select 'summary sums its standings',
    concat_ws(' ', coalesce(x.window_kind, y.window_kind), 'category',
      coalesce(x.category_id, y.category_id)),
    coalesce(x.figures, '0 0 0'), coalesce(y.figures, '0 0 0')
  from (
    select s.window_kind, s.category_id,
      concat_ws(' ', sum(s.vol_cents), count(*) filter (where s.settled_count > 0),
        count(*) filter (where s.settled_count > 0 and l.is_public)) as figures
    from standings as s
    left join leaderboard.standings as l
      on l.window_kind = s.window_kind
      and l.category_id = s.category_id
      and l.user_id = s.user_id
    group by s.window_kind, s.category_id
  ) as x
  full join (
    select z.window_kind, z.category_id,
      concat_ws(' ', z.volume_cents, z.settled_trader_count, z.public_trader_count) as figures
    from leaderboard.summaries as z
  ) as y on y.window_kind = x.window_kind and y.category_id = x.category_id
  where coalesce(x.figures, '0 0 0') <> coalesce(y.figures, '0 0 0')

  union all
  select 'standing counts its trader as what they are',
    concat_ws(' ', s.window_kind, 'category', s.category_id, 'user', s.user_id),
    case when u.private or u.leaderboard_opt_out then 'private' else 'public' end,
    case when s.is_public then 'public' else 'private' end
  from leaderboard.standings as s
  join identity.users as u on u.id = s.user_id
  where s.is_public = (u.private or u.leaderboard_opt_out)
    and not exists (
      select from leaderboard.profile_changes as c where c.user_id = s.user_id
    )

  union all
  select 'win is a settled position',
    concat_ws(' ', 'market', coalesce(x.market_id, w.market_id), 'category',
      coalesce(x.category_id, w.category_id), 'user', coalesce(x.user_id, w.user_id),
      coalesce(x.side, w.side)),
    concat_ws(' ', x.day, x.realised_cents), concat_ws(' ', w.day, w.realised_cents)
  from (
    select s.market_id, c.category_id, s.user_id, s.side, s.day, s.realised_cents
    from settled as s
    cross join lateral (values (0::bigint), (s.category_id)) as c (category_id)
    where s.realised_cents > 0
  ) as x
  full join leaderboard.wins as w
    on w.market_id = x.market_id
    and w.category_id = x.category_id
    and w.user_id = x.user_id
    and w.side = x.side
  where (x.day, x.realised_cents) is distinct from (w.day, w.realised_cents::bigint)

  union all
  select 'escrow is that of its market', 'market ' || k.market_id,
    b.escrow_cents::text, k.escrow_cents::text
  from leaderboard.markets as k
  join trading.market_state as b on b.market_id = k.market_id
  where b.escrow_cents <> k.escrow_cents
    and not exists (
      select
      from trading.trades as t
      where t.market_id = k.market_id
        and t.id > k.last_trade_id
    )
    and not exists (
      select
      from trading.set_conversions as c
      where c.market_id = k.market_id
        and c.id > k.last_conversion_id
    )
    and not exists (
      select
      from trading.resolutions as r
      where r.market_id = k.market_id
        and r.id > k.last_resolution_id
    )
    and not exists (
      select
      from trading.voids as v
      where v.market_id = k.market_id
        and v.id > k.last_void_id
    )

  union all
  select 'open interest is the escrow of the markets',
    concat_ws(' ', 'category', coalesce(x.category_id, o.category_id)),
    coalesce(x.escrow_cents, 0)::text, coalesce(o.open_interest_cents, 0)::text
  from (
    select c.category_id, sum(k.escrow_cents) as escrow_cents
    from leaderboard.markets as k
    join catalog.markets as m on m.id = k.market_id
    cross join lateral (values (0::bigint), (m.category_id)) as c (category_id)
    group by c.category_id
  ) as x
  full join leaderboard.open_interest as o on o.category_id = x.category_id
  where coalesce(x.escrow_cents, 0) <> coalesce(o.open_interest_cents, 0)

  union all
  select 'nothing is passed over', f.kind || ' ' || f.id, 'taken', 'not taken'
  from leaderboard.state as x
  cross join lateral (
    select 'trade' as kind, t.id
    from trading.trades as t
    left join leaderboard.markets as k on k.market_id = t.market_id
    where t.id <= x.after_trade_id
      and t.id > coalesce(k.last_trade_id, 0)
    union all
    select 'conversion', c.id
    from trading.set_conversions as c
    left join leaderboard.markets as k on k.market_id = c.market_id
    where c.id <= x.after_conversion_id
      and c.id > coalesce(k.last_conversion_id, 0)
    union all
    select 'resolution', r.id
    from trading.resolutions as r
    left join leaderboard.markets as k on k.market_id = r.market_id
    where r.id <= x.after_resolution_id
      and r.id > coalesce(k.last_resolution_id, 0)
  ) as f
$$;

comment on function leaderboard.verify() is
  'One row for each difference between the leaderboard and what trading says was realised up to '
  'where it has come: the name of the invariant, the object, what was expected and what was '
  'found. No row when the leaderboard is right, however long ago it was refreshed. Reads '
  'everything; one statement, hence one snapshot.';
