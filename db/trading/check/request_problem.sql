create or replace function trading.request_problem(
  side trading.side,
  price int,
  quantity int,
  budget_cents int,
  order_type trading.order_type,
  time_in_force trading.time_in_force,
  post_only boolean,
  self_trade text
)
returns text
language sql immutable parallel safe
return case
  when side is null then 'side: required'
  when trading.terms_problem(price, quantity) is not null
    then trading.terms_problem(price, quantity)
  when budget_cents not between 1 and 1000000
    then 'budgetCents: must be between 1 and 1000000'
  when order_type = 'sell' and budget_cents is not null then 'budgetCents: not for a sell'
  when order_type = 'sell' and quantity is null then 'quantity: required for a sell'
  when quantity is not null and budget_cents is not null then 'budgetCents: excludes quantity'
  when quantity is null and budget_cents is null then 'quantity: required without budgetCents'
  when self_trade not in ('reject', 'cancel_resting')
    then 'selfTrade: must be one of reject, cancel_resting'
  when post_only and time_in_force <> 'gtc'
    then 'postOnly: needs a price and gtc, and no budgetCents'
end;

comment on function trading.request_problem(
  trading.side, int, int, int, trading.order_type, trading.time_in_force, boolean, text
) is
  'What is malformed about an order, as "field: what it must be"; null when nothing is.';
