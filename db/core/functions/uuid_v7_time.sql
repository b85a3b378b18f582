create or replace function core.uuid_v7_time(id uuid)
returns timestamptz
language sql immutable parallel safe
return to_timestamp(
  ('x' || lpad(substr(replace(id::text, '-', ''), 1, 12), 16, '0'))::bit(64)::bigint / 1000.0
);

comment on function core.uuid_v7_time(uuid) is 'When an identifier was made, to the millisecond.';
