create or replace function trading.balance_object(balance_cents bigint)
returns json
language sql stable parallel safe
return json_build_object('total', balance_cents, 'available', balance_cents);

comment on function trading.balance_object(bigint) is
  'A user''s cash as the answers to commands show it. Nothing is ever reserved.';
