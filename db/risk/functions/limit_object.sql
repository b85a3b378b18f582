create or replace function risk.limit_object(
  limit_cents bigint,
  next_limit_cents bigint,
  changes_at timestamptz,
  net_spent_cents bigint,
  open_cents bigint,
  at timestamptz
)
returns json
language sql stable
return json_build_object(
  'limitCents', limit_cents,
  'usedCents', greatest(0, net_spent_cents) + open_cents,
  'pending', case when changes_at > at then json_build_object(
    'limitCents', next_limit_cents,
    'at', core.iso8601(changes_at)
  ) end
);

comment on function risk.limit_object(bigint, bigint, timestamptz, bigint, bigint, timestamptz) is
  'One loss limit as the account shows it: what holds, what is used (net cash put into trading and '
  'what open orders could cost), and the change that waits, if one does. Null is no limit.';
