create or replace function trading.fee_cents(rate_bps int, weight bigint)
returns bigint
language sql immutable parallel safe
return (rate_bps * weight + 999999) / 1000000;

comment on function trading.fee_cents(int, bigint) is
  'Fee of an order: rate_bps x weight / 1000000 cents rounded up, weight being the sum over its '
  'fills of quantity x p x (100 - p).';
