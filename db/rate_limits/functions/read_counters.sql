create or replace function rate_limits.read_counters(checks rate_limits.checks, at timestamptz)
returns rate_limits.counter[]
language plpgsql volatile
as $$
declare
  v_counters rate_limits.counter[];
begin
  select array_agg(w.counter order by c.place)
  into v_counters
  from unnest(read_counters.checks.buckets, read_counters.checks.subjects) with ordinality
    as c (bucket, subject, place)
  left join lateral (
    select row(
      c.bucket,
      c.subject,
      greatest(b.max_requests - u.used, 0),
      n.taken,
      b.max_requests,
      b.width,
      n.removable_at not between read_counters.at + b.width and read_counters.at + 2 * b.width
    )::rate_limits.counter as counter
    from rate_limits.windows as n
    cross join lateral (
      select x.max_requests, make_interval(secs => x.window_seconds) as width
      from rate_limits.buckets as x
      where x.bucket = n.bucket
    ) as b
    left join lateral (
      select g.first_number
      from rate_limits.grants as g
      where g.bucket = c.bucket
        and g.subject = c.subject
        and g.at > read_counters.at - b.width
        and g.at <= read_counters.at
      order by g.at
      limit 1
    ) as f on true
    cross join lateral (
      select coalesce(n.taken - f.first_number + 1, 0) as used
    ) as u
    where n.bucket = c.bucket and n.subject = c.subject
  ) as w on true;
  return v_counters;
end
$$;

comment on function rate_limits.read_counters(rate_limits.checks, timestamptz) is
  'The state of the locked counters at this time; null for an unknown bucket.';
