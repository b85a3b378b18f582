create or replace function jobs.next_due(
  passing_over bigint[] default '{}',
  out release_in_ms double precision,
  out expire_in_ms double precision,
  out close_in_ms double precision
)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select n.release_in_ms, n.expire_in_ms, n.close_in_ms
  from jobs.next_work(next_due.passing_over) as n
$$;

comment on function jobs.next_due(bigint[]) is
  'For workers of version 0.2.0: jobs.next_work without its later columns. Locks: none.';
