create or replace function api.count_requests(requests json)
returns table (
  allowed boolean,
  retry_after_seconds int,
  windows json
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/plain_nested_loops.sql
as $$
declare
  v_checks rate_limits.checks := rate_limits.read_checks(count_requests.requests);
  v_at timestamptz;
  v_counters rate_limits.counter[];
  v_counter rate_limits.counter;
  v_free bigint[] := '{}';
  v_granted int[] := array_fill(0, array[cardinality(v_checks.buckets)]);
  v_fits boolean;
  v_next int := 1;
  v_end int;
begin
  perform rate_limits.lock_counters(v_checks);
  v_at := core.now();
  v_counters := rate_limits.read_counters(v_checks, v_at);
  foreach v_counter in array v_counters loop
    if v_counter is null then
      perform core.raise_error('NOT_FOUND', 'There is no such bucket');
    end if;
    v_free := v_free || v_counter.free;
  end loop;

  foreach v_end in array v_checks.ends loop
    allowed := true;
    v_fits := true;
    retry_after_seconds := null;
    for i in v_next .. v_end loop
      if v_free[v_checks.checked[i]] < v_checks.counts[i] then
        allowed := false;
        v_counter := v_counters[v_checks.checked[i]];
        v_fits := v_fits and v_checks.counts[i] <= v_counter.max_requests;
        retry_after_seconds := greatest(
          retry_after_seconds,
          rate_limits.retry_after_seconds(
            v_counter, v_granted[v_checks.checked[i]] + v_checks.counts[i], v_at
          )
        );
      end if;
    end loop;
    if not v_fits then
      retry_after_seconds := null;
    end if;

    -- A request that one counter has no room for is not counted by the others either.
    if allowed then
      for i in v_next .. v_end loop
        v_free[v_checks.checked[i]] := v_free[v_checks.checked[i]] - v_checks.counts[i];
        v_granted[v_checks.checked[i]] := v_granted[v_checks.checked[i]] + v_checks.counts[i];
      end loop;
    end if;
    windows := (
      select json_agg(
        json_build_object(
          'bucket', c.bucket, 'quota', c.max_requests,
          'seconds', extract(epoch from c.width)::int, 'remaining', v_free[u.checked]
        )
        order by u.place
      )
      from unnest(v_checks.checked[v_next : v_end]) with ordinality as u (checked, place)
      cross join lateral (select (v_counters[u.checked]).*) as c
    );
    v_next := v_end + 1;
    return next;
  end loop;

  perform rate_limits.record_grants(v_counters, v_granted, v_at);
end
$$;

comment on function api.count_requests(json) is
  'Counts requests in rolling windows, and returns for each, in their order, whether it is allowed '
  'and otherwise after how many seconds it may be repeated. A request is {bucket: subject, ...}: '
  'the buckets of rate_limits.buckets with an address or a user''s id. It counts once, or count '
  'times where a bucket has {subject, count}. It needs room in all of them; a request that is not '
  'allowed is counted in none. retry_after_seconds is null where a request counts more times than '
  'there ever is room for. windows says of each bucket: bucket, quota, seconds of the window, '
  'remaining. Trading requests (v1-trading): api.spend_tokens. Errors: NOT_FOUND. Locks: the '
  'counters.';
