create or replace function core.half_up(numerator bigint, denominator bigint)
returns bigint
language sql immutable parallel safe
return (2 * numerator + denominator) / (2 * denominator);

comment on function core.half_up(bigint, bigint) is
  'numerator / denominator rounded half up, for numerator >= 0 and denominator > 0.';
