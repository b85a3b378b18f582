create or replace function rate_limits.most_at_once(counter rate_limits.counter)
returns int
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    ((most_at_once.counter).policy).burst_capacity,
    (
      select b.max_requests
      from rate_limits.buckets as b
      where b.bucket = (most_at_once.counter).bucket
    )
  )
$$;

comment on function rate_limits.most_at_once(rate_limits.counter) is
  'Requests that a counter has room for when none was counted lately.';
