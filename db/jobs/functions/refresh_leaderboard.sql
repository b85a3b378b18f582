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
  'Brings the leaderboard up to date by at most about so many new facts of each kind; returns 1 if '
  'more are left, and 0 if none is or another refresh is running. Pauses so long between its '
  'parts, to leave processor and disk to trading. Locks: the row of leaderboard.state, which only '
  'refreshes lock.';
