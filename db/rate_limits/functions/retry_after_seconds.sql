create or replace function rate_limits.retry_after_seconds(
  counter rate_limits.counter, needed bigint, at timestamptz
)
returns int
language plpgsql stable
as $$
declare
  v_leaves_at timestamptz;
begin
  -- The request that has to leave the window, by its number. One that this very call allows
  -- has no grant yet.
  select g.at into v_leaves_at
  from rate_limits.grants as g
  where g.bucket = counter.bucket
    and g.subject = counter.subject
    and g.at > retry_after_seconds.at - counter.width
    and g.at <= retry_after_seconds.at
    and g.last_number >= counter.taken - counter.max_requests + retry_after_seconds.needed
  order by g.at
  limit 1;
  return ceil(extract(epoch from
    coalesce(v_leaves_at, retry_after_seconds.at) + counter.width - retry_after_seconds.at
  ))::int;
end
$$;

comment on function rate_limits.retry_after_seconds(rate_limits.counter, bigint, timestamptz) is
  'After how many seconds a counter has room for so many requests, counted from its present state: '
  'those that the same call allows are among them. Call it only if the counter has less room.';
