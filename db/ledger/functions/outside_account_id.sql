create or replace function ledger.outside_account_id()
returns bigint
language sql immutable parallel safe
return 3::bigint;

comment on function ledger.outside_account_id() is
  'The id in ledger.accounts of the outside world: the lowest id of all.';
