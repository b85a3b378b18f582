create or replace function api.take_requests(requests json)
returns table (
  allowed boolean,
  retry_after_seconds int,
  requests_per_minute int,
  burst_capacity int,
  remaining bigint
)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select c.allowed, c.retry_after_seconds, c.requests_per_minute, c.burst_capacity, c.remaining
  from api.count_requests(take_requests.requests) as c
$$;

comment on function api.take_requests(json) is
  'For servers of version 0.2.0: api.count_requests without the windows.';
