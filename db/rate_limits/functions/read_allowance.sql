create or replace function rate_limits.read_allowance(
  allowance rate_limits.allowances, at timestamptz
)
returns rate_limits.counter
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_token constant bigint := 60000000;
  v_policy rate_limits.policy := rate_limits.policy_of(allowance.user_id, read_allowance.at);
  v_rate bigint := v_policy.requests_per_minute;
  v_capacity bigint := v_policy.burst_capacity * c_token;
  -- Under a policy with less capacity no more can be missing than all of it.
  v_spent bigint := least(allowance.spent, v_capacity);
  v_microseconds bigint :=
    (extract(epoch from read_allowance.at - allowance.at) * 1000000)::bigint;
  v_free bigint;
begin
  -- The first bound is for the product, which must stay within a bigint; the second for a clock
  -- that was set back.
  v_microseconds := greatest(least(v_microseconds, v_spent / v_rate + 1), 0);
  v_spent := greatest(v_spent - v_rate * v_microseconds, 0);
  v_free := (v_capacity - v_spent) / c_token;
  return row(
    'v1-trading',
    allowance.user_id,
    v_free,
    null,
    null,
    null,
    v_spent,
    v_policy
  )::rate_limits.counter;
end
$$;

comment on function rate_limits.read_allowance(rate_limits.allowances, timestamptz) is
  'The state of a user''s token bucket at this time: spent tokens have come back at the rate of '
  'the policy in force now, up to its capacity.';
