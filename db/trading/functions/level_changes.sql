create or replace function trading.level_changes(
  resting trading.resting_order[], resting_left int[], resting_read int
)
returns setof trading.level_change
language sql immutable
begin atomic
  select r.book_side, r.book_price, sum(r.after - r.before), sum(sign(r.after) - sign(r.before))
  from (
    select
      u.book_side,
      u.book_price,
      case when u.ordinality > resting_read then 0 else u.quantity - u.filled_quantity end,
      greatest(resting_left[u.ordinality], 0)
    from unnest(resting) with ordinality as u
  ) as r (book_side, book_price, before, after)
  where r.after <> r.before
  group by r.book_side, r.book_price;
end;

comment on function trading.level_changes(trading.resting_order[], int[], int) is
  'What a batch adds to the depth of its market: at most one row for each side and price.';
