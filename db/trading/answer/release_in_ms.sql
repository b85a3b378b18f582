create or replace function trading.release_in_ms(release_at timestamptz, at timestamptz)
returns bigint
language sql immutable parallel safe
return greatest(0, ceil(extract(epoch from release_at - at) * 1000)::bigint);

comment on function trading.release_in_ms(timestamptz, timestamptz) is
  'Milliseconds until a release, rounded up; 0 when it is due.';
