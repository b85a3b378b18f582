create or replace view admin.health as
select
  x.place,
  x.item,
  x.what,
  x.row_count,
  floor(x.late_seconds)::bigint as late_seconds,
  x.most_rows,
  x.most_seconds,
  (x.most_rows is null or x.row_count <= x.most_rows)
    and (x.most_seconds is null or coalesce(x.late_seconds <= x.most_seconds, false)) as is_good
from (
  select
    1 as place, 'worker' as item, 'Heartbeat of the workers' as what, null::bigint as row_count,
    extract(epoch from analytics.now() - h.beat_at) as late_seconds, null::bigint as most_rows,
    30 as most_seconds
  from core.worker_heartbeat as h
  union all
  select
    2, 'process' as item, 'Processes that are silent' as what,
    p.row_count, null as late_seconds, 0, null as most_seconds
  from admin.silent_processes() as p (row_count)
  where p.row_count is not null
  union all
  select
    3, 'release' as item, 'Scheduled orders past their release' as what, count(*),
    coalesce(extract(epoch from analytics.now() - min(o.release_at)), 0), null as most_rows, 5
  from (
    select b.release_at
    from trading.active_orders as b
    where b.queue_position is null
      and b.release_at <= analytics.now()
    order by b.release_at
    limit 10000
  ) as o
  union all
  select
    4, 'expiry' as item, 'Orders in books past their expiry' as what, count(*),
    coalesce(extract(epoch from analytics.now() - min(o.expires_at)), 0), null as most_rows, 60
  from (
    select b.expires_at
    from trading.active_orders as b
    where b.expires_at <= analytics.now()
    order by b.expires_at
    limit 10000
  ) as o
  union all
  select
    5, 'closing' as item, 'Markets past their close time' as what, count(*),
    coalesce(extract(epoch from analytics.now() - min(m.close_time)), 0), null as most_rows, 60
  from (
    select c.close_time
    from catalog.markets as c
    where c.status in ('open', 'paused')
      and c.close_time <= analytics.now()
    order by c.close_time
    limit 10000
  ) as m
  union all
  select
    6, 'dead_man' as item, 'Dead man''s switches that are due, and stops of orders' as what,
    count(*), coalesce(extract(epoch from analytics.now() - min(s.since)), 0), null as most_rows, 5
  from (
    (
      select d.expires_at as since
      from trading.dead_man_switches as d
      where d.expires_at <= analytics.now()
      order by d.expires_at
      limit 10000
    )
    union all
    select o.stopped_at from trading.order_stops as o
  ) as s
  union all
  select j.place, j.item, j.what, j.row_count, j.late_seconds, j.most_rows, j.most_seconds
  from (
    select
      coalesce(sum(w.waiting_count), 0)::bigint as waiting_count,
      coalesce(max(w.late_seconds), 0) as late_seconds,
      coalesce(sum(w.failed_count), 0)::bigint as failed_count
    from admin.jobs as w
  ) as q
  cross join lateral (
    values
      (7, 'job', 'Jobs that wait in the queue', q.waiting_count, q.late_seconds, null::bigint, 300),
      (8, 'failed_job', 'Jobs that failed', q.failed_count, null, 0, null)
  ) as j (place, item, what, row_count, late_seconds, most_rows, most_seconds)
  union all
  select
    9, 'event' as item, 'Events that are not sent to streams' as what,
    count(*), null as late_seconds, 1000, null as most_seconds
  from (select from trading.outbox as o limit 10000) as e
  union all
  select
    10, 'notification' as item, 'Percent of PostgreSQL''s queue of notifications' as what,
    ceil(100 * pg_notification_queue_usage())::bigint, null as late_seconds, 50,
    null as most_seconds
  union all
  select
    11, 'mail' as item, 'Mails that wait' as what, count(*),
    coalesce(extract(epoch from analytics.now() - min(m.created_at)), 0), null as most_rows, 900
  from (
    select w.created_at
    from identity.mails as w
    where w.due_at is not null
      and (w.attempts > 0 or w.due_at <= analytics.now())
    limit 10000
  ) as m
  union all
  select
    12, 'seal' as item, 'Rows of history that are not sealed' as what,
    coalesce(sum(u.row_count), 0)::bigint,
    coalesce(greatest(0, extract(epoch from analytics.now() - min(u.oldest_at))), 0),
    null as most_rows, 300
  from ledger.unsealed_rows() as u
  union all
  select
    13, 'verification' as item, 'Differences that the last verification found' as what,
    max(v.broken_count)::bigint,
    extract(epoch from analytics.now() - max(v.finished_at)), 0, 93600
  from (
    select y.broken_count, y.finished_at
    from ledger.verifications as y
    order by y.id desc
    limit 1
  ) as v
  union all
  select
    14, 'unverified_block' as item,
    'Blocks of history that no sound verification has recomputed' as what, u.block_count,
    coalesce(greatest(0, extract(epoch from analytics.now() - u.oldest_at)), 0),
    null as most_rows, 180000
  from ledger.unverified_blocks as u
  union all
  select
    15, 'lock' as item, 'Calls that wait for a lock' as what, count(*),
    coalesce(extract(epoch from clock_timestamp() - min(l.waitstart)), 0), null as most_rows, 2
  from pg_catalog.pg_locks as l
  inner join pg_catalog.pg_stat_activity as s on s.pid = l.pid
  where not l.granted
    and s.datname = current_database()
  union all
  select
    16, 'archive' as item, 'Archive of the WAL that fails' as what,
    (
      current_setting('archive_mode') <> 'off'
      and coalesce(a.last_failed_time > coalesce(a.last_archived_time, '-infinity'), false)
    )::int,
    null as late_seconds, 0, null as most_seconds
  from pg_catalog.pg_stat_archiver as a
) as x;

comment on view admin.health is
  'How the exchange is now: a row for each thing that can be late or pile up, with how much of it '
  'is normal. No count goes beyond 10,000 rows, of an index where the table is large. On a standby '
  'the row of processes is left out.';
comment on column admin.health.place is 'The order of the rows.';
comment on column admin.health.item is
  'worker, process, release, expiry, closing, dead_man, job, failed_job, event, notification, '
  'mail, seal, verification, unverified_block, lock or archive.';
comment on column admin.health.what is 'In words, what is counted.';
comment on column admin.health.row_count is 'How many; null: nothing is counted.';
comment on column admin.health.late_seconds is
  'How long the oldest of them is due; of the worker and the verification, how long ago it was, '
  'null if never.';
comment on column admin.health.most_rows is 'How many are normal; null: any number.';
comment on column admin.health.most_seconds is 'How many seconds are normal.';
comment on column admin.health.is_good is 'Whether both are normal.';
