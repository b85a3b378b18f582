create or replace function trading.is_large(quantity int)
returns boolean
language sql immutable parallel safe
return coalesce(quantity, 10000) > 100;

comment on function trading.is_large(int) is
  'Whether an order of so many shares, null with a budget, can reach so much of a book that it '
  'pays to look first at how far its user''s cash takes it (trading.read_reach).';
