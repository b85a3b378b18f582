create or replace function core.iso8601(at timestamptz)
returns text
language sql stable parallel safe
return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

comment on function core.iso8601(timestamptz) is
  'A time as the interface writes it: ISO 8601, UTC, milliseconds.';
