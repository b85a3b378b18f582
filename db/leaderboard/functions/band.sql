create or replace function leaderboard.band(pl_cents bigint)
returns int
language sql immutable parallel safe
return sign(pl_cents)::int
  * (('x' || encode(float8send(abs(pl_cents)), 'hex'))::bit(64)::bigint >> 48)::int;

comment on function leaderboard.band(bigint) is
  'The band that a profit falls into: the sign, the exponent and the first four binary digits of '
  'the amount, as a floating-point number has them, so that it rises with the profit. A band is '
  'at most a sixteenth wide.';
