create or replace function jobs.refresh_leaderboard(most int default 100000)
returns int
language plpgsql volatile security definer
set search_path = ''
as $$
begin
  perform
  from leaderboard.state as s
  for update skip locked;
  if not found then
    return 0; -- somebody else is at it
  end if;
  return (not leaderboard.refresh(refresh_leaderboard.most))::int;
end
$$;

comment on function jobs.refresh_leaderboard(int) is
  'Brings the leaderboard up to date, or so far as about so many new facts of each kind bring it; '
  'returns 0 when nothing was left. Locks: the row of leaderboard.state, which nobody waits for '
  'but another refresh.';
