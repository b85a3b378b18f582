create or replace function rate_limits.read_checks(requests json)
returns rate_limits.checks
language plpgsql immutable
as $$
declare
  v_checks rate_limits.checks;
begin
  with checks as materialized (
    select
      r.place,
      c.bucket,
      s.subject,
      s.count,
      dense_rank() over (order by c.bucket collate "C", s.subject collate "C") as counter
    from json_array_elements(read_checks.requests) with ordinality as r (asked, place)
    cross join json_each(r.asked) as c (bucket, asked)
    cross join lateral (
      select
        case json_typeof(c.asked)
          when 'object' then c.asked ->> 'subject'
          else c.asked #>> '{}'
        end,
        case json_typeof(c.asked)
          when 'object' then coalesce((c.asked ->> 'count')::rate_limits.request_count, 1)
          else 1
        end
    ) as s (subject, count)
  )
  select d.buckets, d.subjects, e.ends, c.checked, c.counts
  into v_checks
  from (
    select array_agg(x.bucket order by x.counter), array_agg(x.subject order by x.counter)
    from (
      select distinct on (y.counter) y.counter, y.bucket, y.subject
      from checks as y
      order by y.counter
    ) as x
  ) as d (buckets, subjects)
  cross join (
    select array_agg(x.sum::int order by x.place)
    from (
      select y.place, sum(count(*)) over (order by y.place)
      from checks as y
      group by y.place
    ) as x
  ) as e (ends)
  cross join (
    select
      array_agg(x.counter::int order by x.place, x.counter),
      array_agg(x.count order by x.place, x.counter)
    from checks as x
  ) as c (checked, counts);
  return v_checks;
end
$$;

comment on function rate_limits.read_checks(json) is
  'The counters that the requests given to api.count_requests use, and how often.';
