create or replace function rate_limits.standard_policy()
returns rate_limits.policy
language sql immutable parallel safe
return row('standard', 120, 10, null)::rate_limits.policy;

comment on function rate_limits.standard_policy() is
  'The policy of all users without one of their own in force: 120 trading requests a minute, and '
  '10 back to back. It does not expire.';
