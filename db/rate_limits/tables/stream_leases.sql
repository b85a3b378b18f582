create unlogged table rate_limits.stream_leases (
  lease_id uuid primary key,
  seen_at timestamptz not null
);

comment on table rate_limits.stream_leases is
  'The server processes that have event streams open. Each renews its lease every 10 seconds; the '
  'streams of one that has not for 30 seconds count no more. Unlogged: after a crash of the '
  'database each process takes a new lease for the streams that it still has.';
