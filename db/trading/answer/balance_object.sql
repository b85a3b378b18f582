create or replace function trading.balance_object(balance_cents bigint)
returns text
language sql stable parallel safe
return format('{"total":%s,"available":%s}', balance_cents, balance_cents);

comment on function trading.balance_object(bigint) is
  'A user''s cash as the answers to commands show it, as JSON text. Nothing is ever reserved.';
