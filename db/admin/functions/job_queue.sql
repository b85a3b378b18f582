create or replace function admin.job_queue()
returns table (
  job text, waiting_count bigint, running_count bigint, failed_count bigint,
  oldest_due_at timestamptz, last_error text
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not core.can_read('graphile_worker', '_private_jobs') then
    return;
  end if;
  -- Its times are by the clock of PostgreSQL.
  return query execute $query$
    select
      t.identifier,
      count(*) filter (where j.is_available and j.run_at <= now()),
      count(*) filter (where j.locked_at is not null),
      count(*) filter (where j.last_error is not null),
      min(j.run_at) filter (where j.is_available and j.run_at <= now()),
      left(split_part(max(j.last_error), chr(10), 1), 200)
    from (
      select q.task_id, q.locked_at, q.run_at, q.is_available, q.last_error
      from graphile_worker._private_jobs as q
      -- Not what another request has replaced, which the worker removes.
      where q.key is not null or q.attempts < q.max_attempts or q.locked_at is not null
      limit 10000
    ) as j
    join graphile_worker._private_tasks as t on t.id = j.task_id
    group by t.identifier
  $query$;
end
$$;

comment on function admin.job_queue() is
  'What the queue of the worker has of each job: how many wait although they are due, run, and '
  'failed at their last attempt, since when the oldest is due, and the first line of an error. It '
  'reads 10,000 rows at most, and nothing that was given to a job. No rows if there is no queue. '
  'admin.jobs has the same, with the times of the crontab.';
