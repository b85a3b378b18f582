create or replace function jobs.last_ticks()
returns table (job text, at_ms float8)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select t.job, 1000 * extract(epoch from t.ticked_at)
  from core.job_ticks as t
$$;

comment on function jobs.last_ticks() is
  'For which time each job of the crontab was last requested, in milliseconds since 1970: a worker '
  'that begins makes up what was missed since. Locks: none.';
