create or replace function rate_limits.policy_of(user_id uuid, at timestamptz)
returns rate_limits.policy
language plpgsql stable
as $$
declare
  v_policy rate_limits.policy;
begin
  select p.tier, p.requests_per_minute::int, p.burst_capacity::int, p.expires_at
  into v_policy
  from identity.users as u
  join rate_limits.rate_policies as p on p.user_id = u.id
  where u.public_id = policy_of.user_id
    and (p.expires_at is null or p.expires_at > policy_of.at);
  return case when found then v_policy else rate_limits.standard_policy() end;
end
$$;

comment on function rate_limits.policy_of(uuid, timestamptz) is
  'The policy in force for a user''s trading requests: their own until it expires, else the '
  'standard one.';
