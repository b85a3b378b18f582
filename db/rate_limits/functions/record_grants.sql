create or replace function rate_limits.record_grants(
  counters rate_limits.counter[], granted int[], at timestamptz
)
returns void
language plpgsql volatile
as $$
begin
  insert into rate_limits.grants as g (bucket, subject, at, first_number, last_number)
  select c.bucket, c.subject, record_grants.at, c.taken + 1, c.taken + c.granted
  from unnest(record_grants.counters, record_grants.granted) as c (
    bucket, subject, free, taken, max_requests, width, is_due, granted
  )
  where c.granted > 0
  on conflict on constraint grants_pkey do update
  set last_number = excluded.last_number;

  -- Beside what has left the window, this removes what a clock wrote that was then set back.
  delete from rate_limits.grants as g
  using
    unnest(record_grants.counters) as c,
    lateral (
      select w.kept_from
      from rate_limits.windows as w
      where w.bucket = c.bucket and w.subject = c.subject
    ) as k
  where c.is_due
    and g.bucket = c.bucket
    and g.subject = c.subject
    and g.at >= k.kept_from
    and (g.at <= record_grants.at - c.width or g.at > record_grants.at);

  update rate_limits.windows as w set
    taken = c.taken + c.granted,
    kept_from = case when c.is_due then record_grants.at - c.width else w.kept_from end,
    removable_at = case
      when c.is_due then record_grants.at + 2 * c.width
      else w.removable_at
    end
  from unnest(record_grants.counters, record_grants.granted) as c (
    bucket, subject, free, taken, max_requests, width, is_due, granted
  )
  where w.bucket = c.bucket and w.subject = c.subject and c.granted > 0;
end
$$;

comment on function rate_limits.record_grants(rate_limits.counter[], int[], timestamptz) is
  'Records how many requests each of the locked rolling windows allowed at this time. Once in a '
  'window it also removes the grants that have left it.';
