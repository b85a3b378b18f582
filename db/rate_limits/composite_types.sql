create type rate_limits.policy as (
  tier rate_limits.tier,
  requests_per_minute int,
  burst_capacity int,
  expires_at timestamptz
);
comment on type rate_limits.policy is
  'The limit of a user''s trading requests: the sustained rate, and how many back to back.';

create type rate_limits.payment as (
  allowed boolean,
  retry_after_seconds int,
  requests_per_minute int,
  burst_capacity int,
  remaining bigint
);
comment on type rate_limits.payment is
  'Whether a user had tokens for a trading request; null: the bucket is locked, ask again. If not, '
  'after how many seconds the same would be allowed; null where it asks for more than there ever '
  'are. Then the policy in force, and the whole tokens left.';

-- What the stages of api.count_requests hand to each other.

create type rate_limits.checks as (
  buckets text[],
  subjects text[],
  ends int[],
  checked int[],
  counts int[]
);
comment on type rate_limits.checks is
  'Requests to be counted. buckets and subjects name each counter once, in the order in which they '
  'are locked; checked holds the places of the counters that each request asks, one request after '
  'another, counts how many times, and ends where each request''s part of it ends.';

create type rate_limits.counter as (
  bucket text,
  subject text,
  free bigint,
  taken bigint,
  max_requests int,
  width interval,
  is_due boolean
);
comment on type rate_limits.counter is
  'The state of one rolling window: the requests that it has room for now, the number of the last '
  'request allowed, how many it allows in its length, and whether it is time to clean up behind '
  'it.';
