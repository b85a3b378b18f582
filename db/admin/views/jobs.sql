create or replace view admin.jobs as
select
  coalesce(t.job, q.job) as job,
  t.ticked_at as last_requested_at,
  coalesce(q.waiting_count, 0) as waiting_count,
  coalesce(q.running_count, 0) as running_count,
  coalesce(q.failed_count, 0) as failed_count,
  q.oldest_due_at,
  coalesce(floor(greatest(0, extract(epoch from now() - q.oldest_due_at))), 0)::bigint
    as late_seconds,
  q.last_error
from core.job_ticks as t
full join admin.job_queue() as q on q.job = t.job;

comment on view admin.jobs is
  'The jobs of the worker that were requested by the crontab at least once, or are in its queue. A '
  'job that ended well is not in the queue any more.';
comment on column admin.jobs.job is 'As jobs/crontab.ts names it.';
comment on column admin.jobs.last_requested_at is
  'For which time the crontab last requested it; null: it has no times, or was not requested yet.';
comment on column admin.jobs.waiting_count is 'How many in the queue are due and not begun.';
comment on column admin.jobs.running_count is
  'How many a worker has taken. Those of a killed worker count for up to four hours.';
comment on column admin.jobs.failed_count is
  'How many failed at their last attempt. They are tried again.';
comment on column admin.jobs.oldest_due_at is 'Since when the oldest that waits is due.';
comment on column admin.jobs.late_seconds is 'How long that is; 0: none waits.';
comment on column admin.jobs.last_error is
  'The first line of the error of one that failed, 200 characters at most.';
