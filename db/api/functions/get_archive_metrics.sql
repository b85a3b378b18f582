create or replace function api.get_archive_metrics()
returns table (archive_fails boolean)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    current_setting('archive_mode') <> 'off'
      and coalesce(a.last_failed_time > coalesce(a.last_archived_time, '-infinity'), false)
  from pg_catalog.pg_stat_archiver as a
$$;

comment on function api.get_archive_metrics() is
  'One row of figures for monitoring: whether the WAL is to be archived, and the last attempt '
  'failed.';
