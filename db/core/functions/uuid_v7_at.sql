create or replace function core.uuid_v7_at(at timestamptz)
returns uuid
language sql immutable parallel safe
return (
  lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20)
)::uuid;

comment on function core.uuid_v7_at(timestamptz) is
  'The bound between the identifiers made before a time and those made from then on. It is lower '
  'than any that core.uuid_v7() makes in that millisecond.';
