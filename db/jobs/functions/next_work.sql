create or replace function jobs.next_work(
  passing_over bigint[] default '{}',
  out release_in_ms double precision,
  out expire_in_ms double precision,
  out close_in_ms double precision,
  out mail_in_ms double precision,
  out dead_man_in_ms double precision
)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
  select
    d.release_in_ms,
    d.expire_in_ms,
    d.close_in_ms,
    1000 * extract(epoch from m.due_at - n.at),
    1000 * extract(epoch from s.expires_at - n.at)
  from jobs.next_due(next_work.passing_over) as d
  cross join core.now() as n (at)
  left join lateral (
    select x.due_at
    from identity.mails as x
    where x.due_at is not null
    order by x.due_at
    limit 1
  ) as m on true
  left join lateral (
    select x.expires_at
    from trading.dead_man_switches as x
    where x.expires_at is not null
    order by x.expires_at
    limit 1
  ) as s on true
$$;

comment on function jobs.next_work(bigint[]) is
  'What jobs.next_due says, and in how many milliseconds the next mail is to be sent and the next '
  'dead man''s switch fires. Locks: none.';
