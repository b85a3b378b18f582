create or replace function jobs.next_work(
  passing_over bigint[] default '{}',
  out at_ms double precision,
  out release_in_ms double precision,
  out expire_in_ms double precision,
  out close_in_ms double precision,
  out mail_in_ms double precision,
  out dead_man_in_ms double precision,
  out open_in_ms double precision
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  -- The worker looks every 100 ms, and no job waits for longer than a quarter of a second.
  c_ahead constant interval := interval '1 second';
  v_at timestamptz := core.now();
begin
  at_ms := 1000 * extract(epoch from v_at);
  release_in_ms := 1000 * extract(epoch from (
    select b.release_at
    from trading.active_orders as b
    where b.queue_position is null
      and b.market_id <> all (next_work.passing_over)
    order by b.release_at
    limit 1
  ) - v_at);
  expire_in_ms := 1000 * extract(epoch from (
    select b.expires_at
    from trading.active_orders as b
    cross join lateral (
      select x.close_time
      from catalog.markets as x
      where x.id = b.market_id
      limit 1
    ) as m
    where b.expires_at <= v_at + c_ahead
      and b.queue_position is not null
      and (m.close_time is null or b.expires_at < m.close_time)
      and b.market_id <> all (next_work.passing_over)
    order by b.expires_at
    limit 1
  ) - v_at);
  close_in_ms := 1000 * extract(epoch from (
    select m.close_time
    from catalog.markets as m
    where m.status in ('open', 'paused')
      and m.close_time is not null
      and m.id <> all (next_work.passing_over)
    order by m.close_time
    limit 1
  ) - v_at);
  mail_in_ms := 1000 * extract(epoch from (
    select x.due_at
    from identity.mails as x
    where x.due_at is not null
    order by x.due_at
    limit 1
  ) - v_at);
  dead_man_in_ms := 1000 * extract(epoch from least(
    (
      select x.expires_at
      from trading.dead_man_switches as x
      where x.expires_at is not null
      order by x.expires_at
      limit 1
    ),
    (select min(x.stopped_at) from trading.order_stops as x)
  ) - v_at);
  open_in_ms := 1000 * extract(epoch from (
    select m.open_time
    from catalog.markets as m
    where m.open_time is not null
      and (m.close_time is null or m.close_time > v_at)
      and m.id <> all (next_work.passing_over)
    order by m.open_time
    limit 1
  ) - v_at);
end
$$;

comment on function jobs.next_work(bigint[]) is
  'The time of the database, in milliseconds since 1970. In how many milliseconds the next '
  'scheduled order is to be released, the next resting one expires, the next market closes, the '
  'next mail is to be sent, the next dead man''s switch fires (or orders are stopped) and the next '
  'market opens; below 0 '
  'when it is overdue, null when there is none, and of expiries when there is none within a '
  'second: those after the close of their market are not looked through before. The markets to '
  'pass over don''t count. Locks: none.';
