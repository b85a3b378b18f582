create or replace function admin.set_rate_policy(
  user_id uuid,
  tier text,
  requests_per_minute int default null,
  burst_capacity int default null,
  expires_at timestamptz default null
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.user_id(set_rate_policy.user_id);
  v_requests_per_minute int := set_rate_policy.requests_per_minute;
  v_burst_capacity int := set_rate_policy.burst_capacity;
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('set_rate_policy');
  -- Also a call that finds no policy to remove has its place among the others.
  perform identity.lock_account(v_user_id);
  case set_rate_policy.tier
    when 'standard' then
      if coalesce(v_requests_per_minute, v_burst_capacity) is not null
        or set_rate_policy.expires_at is not null
      then
        perform core.raise_error(
          'INVALID_REQUEST', 'The standard policy takes no figures and no end'
        );
      end if;
      delete from rate_limits.rate_policies as p where p.user_id = v_user_id;
    when 'elevated', 'custom' then
      if set_rate_policy.tier = 'elevated' then
        v_requests_per_minute := coalesce(v_requests_per_minute, 600);
        v_burst_capacity := coalesce(v_burst_capacity, 50);
      end if;
      insert into rate_limits.rate_policies as p
        (user_id, tier, requests_per_minute, burst_capacity, expires_at)
      values (
        v_user_id, set_rate_policy.tier::rate_limits.tier, v_requests_per_minute, v_burst_capacity,
        set_rate_policy.expires_at
      )
      on conflict on constraint rate_policies_pkey do update set
        tier = excluded.tier,
        requests_per_minute = excluded.requests_per_minute,
        burst_capacity = excluded.burst_capacity,
        expires_at = excluded.expires_at;
    else
      perform core.raise_error(
        'INVALID_REQUEST', 'The tier must be standard, elevated or custom'
      );
  end case;

  perform admin.audit('set_rate_policy', jsonb_build_object(
    'user_id', set_rate_policy.user_id,
    'tier', set_rate_policy.tier,
    'requests_per_minute', v_requests_per_minute,
    'burst_capacity', v_burst_capacity,
    'expires_at', set_rate_policy.expires_at
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_rate_policy(uuid, text, int, int, timestamptz) is
  'Sets how fast a user may trade, from the next request on: the standard policy, or an elevated '
  '(600 a minute and 50 back to back by default) or custom one, until a time or for good. Tokens '
  'that were spent stay spent. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the account.';
