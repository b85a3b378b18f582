create or replace function trading.starved_that_stay(
  is_starved boolean[], cancelled trading.cancelled_maker[], is_hopeless boolean
)
returns boolean[]
language sql immutable parallel safe
return case
  when is_hopeless or false = any (is_starved) then is_starved
  else array(
    select c.reason = 'self_trade'
    from unnest(cancelled) with ordinality as c (request, maker, reason, left_quantity, place)
    where c.place <= cardinality(is_starved)
    order by c.place
  )
end;

comment on function trading.starved_that_stay(
  boolean[], trading.cancelled_maker[], boolean
) is
  'Which of the makers that a call has cancelled stay after all, since only fills of the request '
  'that is not finished starved them: none but own orders, if the call would else cancel nobody '
  'and its repetition get no further. is_hopeless: the request will be rejected whoever goes.';
