create or replace function ledger.user_account_id(user_id bigint)
returns bigint
language sql immutable parallel safe
return user_id * 4;

comment on function ledger.user_account_id(bigint) is
  'The id in ledger.accounts of a user.';
