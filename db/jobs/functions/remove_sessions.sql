create or replace function jobs.remove_sessions(most int default 1000)
returns int
language sql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
set enable_sort = off
as $$
  select identity.end_sessions(
    array(
      select s.id
      from identity.sessions as s
      where s.expires_at <= (select core.now())
      order by s.expires_at
      limit remove_sessions.most
      for update skip locked
    )
  )::int
$$;

comment on function jobs.remove_sessions(int) is
  'Removes sessions that have expired, and their tokens, at most so many; returns how many. Locks: '
  'their rows, without waiting for locked ones.';
