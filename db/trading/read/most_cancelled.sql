create or replace function trading.most_cancelled()
returns int
language sql immutable parallel safe
return 500;

comment on function trading.most_cancelled() is
  'How many makers a request, and a call, cancels before it halts: see trading.match_orders.';
