create or replace function trading.key_lifetime()
returns interval
language sql immutable parallel safe
return interval '24 hours';

comment on function trading.key_lifetime() is
  'How long an idempotency key counts from its first use. Afterwards it is a new key.';
