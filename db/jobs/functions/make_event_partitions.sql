create or replace function jobs.make_event_partitions()
returns int
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select count(*)::int
  from generate_series(0, 2) as d (days)
  where trading.make_event_partition(core.now() + make_interval(hours => 24 * d.days))
$$;

comment on function jobs.make_event_partitions() is
  'Makes the partitions of trading.sent_events for today and the next two days; returns how many '
  'were not there. Without them, api.relay_outbox() makes that of the day itself.';
