create or replace function jobs.claim_tick(job text, tick_at timestamptz)
returns boolean
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  with claimed as (
    insert into core.job_ticks as t (job, ticked_at)
    values (claim_tick.job, claim_tick.tick_at)
    on conflict (job) do update set ticked_at = excluded.ticked_at
    where t.ticked_at < excluded.ticked_at
      -- The clock was set back.
      or t.ticked_at > core.now() + interval '1 minute'
    returning t.job
  )
  select exists (select from claimed as c)
$$;

comment on function jobs.claim_tick(text, timestamptz) is
  'Whether the caller is the one worker that requests a job of the crontab for this time. '
  'Locks: the row of the job in core.job_ticks.';
