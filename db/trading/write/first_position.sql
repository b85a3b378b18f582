create or replace function trading.first_position(
  position_before bigint, best_before int, best int, first_left bigint, last_gone bigint
)
returns bigint
language sql immutable parallel safe
return case
  when first_left is not null then first_left
  when best = best_before then greatest(position_before, last_gone + 1)
  else 0
end;

comment on function trading.first_position(bigint, int, int, bigint, bigint) is
  'A queue position of a side, after a batch, with no resting order of the best price before it. '
  'first_left is the first of the orders there that the batch read and left, last_gone the last '
  'one that it took away.';
