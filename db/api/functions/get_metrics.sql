create or replace function api.get_metrics()
returns table (
  server_version text,
  schema_version text,
  trading_paused boolean,
  trades bigint,
  pending_announcements bigint,
  release_lateness_seconds double precision,
  expiry_lateness_seconds double precision,
  waiting_jobs bigint,
  oldest_job_lateness_seconds double precision,
  verification_age_seconds double precision,
  broken_invariants bigint,
  notification_queue_usage double precision,
  waiting_locks bigint,
  longest_lock_wait_seconds double precision,
  connections bigint,
  max_connections bigint,
  deadlocks bigint,
  transaction_id_age bigint
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_counted constant int := 10000;
  v_now timestamptz := core.now();
begin
  server_version := current_setting('server_version');
  if core.can_read('graphile_migrate', 'migrations') then
    execute 'select max(m.filename) from graphile_migrate.migrations as m' into schema_version;
  end if;

  select s.trading_paused into trading_paused from core.settings as s;

  -- The trades themselves are not counted: each market counts its own.
  select coalesce(sum(s.trade_count), 0)::bigint into trades
  from trading.market_state as s;

  select count(*) into pending_announcements
  from (select from trading.outbox limit c_most_counted) as a;

  select greatest(0, extract(epoch from v_now - min(o.release_at))) into release_lateness_seconds
  from trading.active_orders as o
  where o.queue_position is null;
  select greatest(0, extract(epoch from v_now - min(o.expires_at))) into expiry_lateness_seconds
  from trading.active_orders as o
  where o.expires_at is not null;
  release_lateness_seconds := coalesce(release_lateness_seconds, 0);
  expiry_lateness_seconds := coalesce(expiry_lateness_seconds, 0);

  if core.can_read('graphile_worker', '_private_jobs') then
    execute
      'select count(*), coalesce(extract(epoch from now() - min(j.run_at)), 0)
       from (
         select q.run_at
         from graphile_worker._private_jobs as q
         where q.is_available and q.run_at <= now()
         limit $1
       ) as j'
    into waiting_jobs, oldest_job_lateness_seconds
    using c_most_counted;
  end if;

  select extract(epoch from v_now - v.finished_at), v.broken_count
  into verification_age_seconds, broken_invariants
  from ledger.verifications as v
  order by v.id desc
  limit 1;

  notification_queue_usage := pg_notification_queue_usage();

  -- Unlike pg_stat_activity, it shows the waits of others to all roles. It names no database for
  -- the wait for a transaction; of other sessions, all roles may see theirs.
  select count(*), coalesce(extract(epoch from clock_timestamp() - min(l.waitstart)), 0)
  into waiting_locks, longest_lock_wait_seconds
  from pg_catalog.pg_locks as l
  inner join pg_catalog.pg_stat_activity as s on s.pid = l.pid
  where not l.granted
    and s.datname = current_database();

  select d.numbackends, d.deadlocks into connections, deadlocks
  from pg_catalog.pg_stat_database as d
  where d.datname = current_database();
  max_connections := current_setting('max_connections')::bigint;

  select age(d.datfrozenxid) into transaction_id_age
  from pg_catalog.pg_database as d
  where d.datname = current_database();

  return next;
end
$$;

comment on function api.get_metrics() is
  'One row of figures for monitoring, none of which reads more than a row of each market: how late '
  'the oldest order is that should have been released or expired by now (0: none is due), how long '
  'ago the ledger was last verified and what was broken (null: never), what PostgreSQL itself may '
  'run out of. pending_announcements and waiting_jobs stop counting at 10,000; without the queue '
  'of jobs the latter is null.';
