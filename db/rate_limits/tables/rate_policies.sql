create table rate_limits.rate_policies (
  user_id bigint primary key references identity.users (id),
  tier rate_limits.tier not null,
  requests_per_minute rate_limits.rate not null,
  burst_capacity rate_limits.rate not null,
  expires_at timestamptz,
  constraint rate_policies_are_those_that_differ check (tier <> 'standard')
);

comment on table rate_limits.rate_policies is
  'Users whose trading requests are limited by a policy of their own; all others have the standard '
  'one, also those whose own policy has expired. Operators change them by admin.set_rate_policy.';
