create or replace function trading.terms_problem(price int, quantity int)
returns text
language sql immutable parallel safe
return case
  when price not between 1 and 99 then 'price: must be between 1 and 99'
  when quantity not between 1 and 10000 then 'quantity: must be between 1 and 10000'
end;

comment on function trading.terms_problem(int, int) is
  'What is wrong with a price (cents) or a quantity (shares), the price first; null when nothing '
  'is. Null is not judged.';
