create table core.job_ticks (
  job text primary key,
  ticked_at timestamptz not null
);

comment on table core.job_ticks is
  'The last time at which each job of the crontab was requested, so that one worker requests it.';
comment on column core.job_ticks.ticked_at is
  'By the database''s clock: a whole minute, or of a job that runs more often its second.';
