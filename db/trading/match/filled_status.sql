create or replace function trading.filled_status(left_quantity int, quantity int)
returns trading.order_status
language sql immutable parallel safe
return case
  when left_quantity = 0 then 'filled'::trading.order_status
  when left_quantity = quantity then 'open'::trading.order_status
  else 'partially_filled'::trading.order_status
end;

comment on function trading.filled_status(int, int) is
  'Status of an order that is not cancelled, by what is left of it.';
