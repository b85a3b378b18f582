create or replace function jobs.refresh_leaderboard(
  most int default 20000, pause interval default '0'
)
returns int
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select (
    not coalesce(
      leaderboard.refresh(
        refresh_leaderboard.most, waits => false, pause => refresh_leaderboard.pause
      ),
      true
    )
  )::int
$$;

comment on function jobs.refresh_leaderboard(int, interval) is
  'Brings the leaderboard up to date, or so far as about so many new facts of each kind bring it; '
  'returns 0 when nothing was left, or when somebody else is at it. Pauses so long between its '
  'parts, so that trading finds processor and disk free. Locks: the row of leaderboard.state, '
  'which nobody waits for but another refresh.';
