create or replace function core.is_within_an_hour(at timestamptz, other timestamptz)
returns boolean
language sql stable parallel safe
return at between other - interval '1 hour' and other + interval '1 hour';

comment on function core.is_within_an_hour(timestamptz, timestamptz) is
  'Whether two times count as the same for ledger.verify(): those of a row and of the call that '
  'made it are of one transaction. Null if one of them is.';
