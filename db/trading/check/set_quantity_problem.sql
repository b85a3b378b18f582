create or replace function trading.set_quantity_problem(quantity int)
returns text
language sql immutable parallel safe
return case
  when quantity is null then 'quantity: required'
  else trading.terms_problem(null, quantity)
end;

comment on function trading.set_quantity_problem(int) is
  'What is wrong with a number of complete sets; null when it may be split or merged.';
