create or replace function leaderboard.move_standings(
  window_kind leaderboard.window_kind,
  changes leaderboard.change[],
  from_day date,
  to_day date
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
as $$
  with
  more as materialized (
    select
      x.category_id,
      x.window_kind,
      x.user_id,
      sum(x.pl_cents)::bigint as pl_cents,
      sum(x.vol_cents)::bigint as vol_cents,
      sum(x.win_count)::bigint as win_count,
      sum(x.settled_count)::bigint as settled_count,
      sum(x.realised_count)::bigint as realised_count
    from (
      select
        w.window_kind, c.category_id, c.user_id,
        c.pl_cents, c.vol_cents, c.win_count, c.settled_count, c.realised_count
      from unnest(move_standings.changes) as c
      join leaderboard.windows(move_standings.to_day) as w
        on w.window_kind = move_standings.window_kind
        and w.from_day <= c.day
      union all
      select
        w.window_kind, d.category_id, d.user_id,
        -d.pl_cents, -d.vol_cents, -d.win_count, -d.settled_count, -d.realised_count
      from leaderboard.windows(move_standings.from_day) as o
      join leaderboard.windows(move_standings.to_day) as w on w.window_kind = o.window_kind
      join leaderboard.days as d on d.day >= o.from_day and d.day < w.from_day
      where o.window_kind = move_standings.window_kind
    ) as x
    group by x.category_id, x.window_kind, x.user_id
  ),
  moved as materialized (
    select
      m.category_id,
      m.window_kind,
      m.user_id,
      u.public_id as user_public_id,
      s.user_id is not null as was_ranked,
      m.realised_count + coalesce(s.realised_count, 0) > 0 as is_ranked,
      coalesce(s.settled_count > 0, false) as was_settled,
      coalesce(s.settled_count > 0 and s.is_public, false) as was_public,
      s.band as band_before,
      m.pl_cents + coalesce(s.pl_cents, 0) as pl_cents,
      m.vol_cents,
      m.vol_cents + coalesce(s.vol_cents, 0) as total_vol_cents,
      m.win_count + coalesce(s.win_count, 0) as win_count,
      m.settled_count + coalesce(s.settled_count, 0) as settled_count,
      m.realised_count + coalesce(s.realised_count, 0) as realised_count,
      not (u.private or u.leaderboard_opt_out) as is_public
    from more as m
    join identity.users as u on u.id = m.user_id
    left join leaderboard.standings as s
      on s.user_id = m.user_id
      and s.category_id = m.category_id
      and s.window_kind = m.window_kind
  ),
  banded as (
    insert into leaderboard.bands (category_id, window_kind, band, trader_count)
    select x.category_id, x.window_kind, x.band, x.more + coalesce(b.trader_count, 0)
    from (
      select n.category_id, n.window_kind, n.band, sum(n.more) as more
      from (
        select m.category_id, m.window_kind, m.band_before as band, -1 as more
        from moved as m
        where m.was_ranked
        union all
        select m.category_id, m.window_kind, leaderboard.band(m.pl_cents), 1
        from moved as m
        where m.is_ranked
      ) as n
      group by n.category_id, n.window_kind, n.band
      having sum(n.more) <> 0
    ) as x
    left join leaderboard.bands as b
      on b.category_id = x.category_id
      and b.window_kind = x.window_kind
      and b.band = x.band
    on conflict (category_id, window_kind, band) do update
    set trader_count = excluded.trader_count
  ),
  summed as (
    insert into leaderboard.summaries (
      category_id, window_kind, volume_cents, settled_trader_count, public_trader_count
    )
    select
      x.category_id,
      x.window_kind,
      x.vol_cents + coalesce(y.volume_cents, 0),
      x.settled_traders + coalesce(y.settled_trader_count, 0),
      x.public_traders + coalesce(y.public_trader_count, 0)
    from (
      select
        m.category_id,
        m.window_kind,
        sum(m.vol_cents) as vol_cents,
        sum((m.settled_count > 0)::int - m.was_settled::int) as settled_traders,
        sum((m.settled_count > 0 and m.is_public)::int - m.was_public::int) as public_traders
      from moved as m
      group by m.category_id, m.window_kind
    ) as x
    left join leaderboard.summaries as y
      on y.category_id = x.category_id
      and y.window_kind = x.window_kind
    on conflict (category_id, window_kind) do update set
      volume_cents = excluded.volume_cents,
      settled_trader_count = excluded.settled_trader_count,
      public_trader_count = excluded.public_trader_count
  ),
  gone as (
    delete from leaderboard.standings as s
    using moved as m
    where not m.is_ranked
      and s.user_id = m.user_id
      and s.category_id = m.category_id
      and s.window_kind = m.window_kind
  )
  insert into leaderboard.standings (
    user_id, category_id, window_kind, user_public_id,
    pl_cents, vol_cents, win_count, settled_count, realised_count, is_public
  )
  select
    m.user_id, m.category_id, m.window_kind, m.user_public_id,
    m.pl_cents, m.total_vol_cents, m.win_count, m.settled_count, m.realised_count, m.is_public
  from moved as m
  where m.is_ranked
  on conflict (user_id, category_id, window_kind) do update set
    pl_cents = excluded.pl_cents,
    vol_cents = excluded.vol_cents,
    win_count = excluded.win_count,
    settled_count = excluded.settled_count,
    realised_count = excluded.realised_count,
    is_public = excluded.is_public
$$;

comment on function leaderboard.move_standings(
  leaderboard.window_kind, leaderboard.change[], date, date
) is
  'Moves a window from the day on which it ended to a later one, or the same, and adds changes '
  'that leaderboard.days does not have yet. Costs what has changed, and the days that leave the '
  'window. The caller holds the row of leaderboard.state.';
