create or replace function ledger.escrow_account_id(market_id bigint)
returns bigint
language sql immutable parallel safe
return market_id * 4 + 1;

comment on function ledger.escrow_account_id(bigint) is
  'The id in ledger.accounts of the escrow of a market.';
