create or replace function admin.refresh_leaderboard()
returns timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform admin.check_role('refresh_leaderboard');
  while not leaderboard.refresh() loop
    null; -- a piece at a time, until nothing is left
  end loop;
  perform admin.audit('refresh_leaderboard', '{}');
  return (select s.snapshot_at from leaderboard.state as s);
end
$$;

comment on function admin.refresh_leaderboard() is
  'Brings the leaderboard up to date and returns the time of its snapshot. Locks: the row of '
  'leaderboard.state.';
