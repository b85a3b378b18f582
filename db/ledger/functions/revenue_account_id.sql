create or replace function ledger.revenue_account_id(market_id bigint)
returns bigint
language sql immutable parallel safe
return market_id * 4 + 2;

comment on function ledger.revenue_account_id(bigint) is
  'The id in ledger.accounts of the fee revenue of a market.';
