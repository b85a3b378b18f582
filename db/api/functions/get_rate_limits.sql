create or replace function api.get_rate_limits(user_id uuid)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select json_build_object(
      'read', json_build_object('limit', b.max_requests, 'windowSeconds', b.window_seconds),
      'trading', json_build_object(
        'tier', (p.policy).tier,
        'requestsPerMinute', (p.policy).requests_per_minute,
        'burstCapacity', (p.policy).burst_capacity,
        'expiresAt', core.iso8601((p.policy).expires_at)
      )
    )
    from rate_limits.buckets as b
    cross join (select rate_limits.policy_of(get_rate_limits.user_id, core.now()) as policy) as p
    where b.bucket = 'v1-user'
  );
end
$$;

comment on function api.get_rate_limits(uuid) is 'The body of GET /me/rate-limits.';
