create or replace function rate_limits.policy_of(user_id uuid, at timestamptz)
returns rate_limits.policy
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (
      select row(p.tier, p.requests_per_minute, p.burst_capacity, p.expires_at)::rate_limits.policy
      from identity.users as u
      join rate_limits.rate_policies as p on p.user_id = u.id
      where u.public_id = policy_of.user_id
        and (p.expires_at is null or p.expires_at > policy_of.at)
    ),
    rate_limits.standard_policy()
  )
$$;

comment on function rate_limits.policy_of(uuid, timestamptz) is
  'The policy in force for a user''s trading requests: their own until it expires, else the '
  'standard one.';
