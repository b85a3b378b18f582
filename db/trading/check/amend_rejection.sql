create or replace function trading.amend_rejection(
  "order" trading.orders, is_over boolean, quantity int
)
returns text
language sql immutable parallel safe
return case
  when ("order").id is null then 'ORDER_NOT_FOUND'
  when is_over or ("order").status in ('filled', 'cancelled') then 'ORDER_NOT_AMENDABLE'
  when quantity <= ("order").filled_quantity then 'BELOW_FILLED'
  when ("order").budget_cents is not null then 'BUDGET_ORDER_NOT_AMENDABLE'
end;

comment on function trading.amend_rejection(trading.orders, boolean, int) is
  'Why an order cannot be amended to a new total quantity (null keeps it), in order of precedence; '
  'null when it can. The order is null when the user has no such order. is_over: it has expired or '
  'is stopped.';
