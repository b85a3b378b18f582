create or replace function ledger.event_account_id(event_id bigint)
returns bigint
language sql immutable parallel safe
return event_id * 4 + 3;

comment on function ledger.event_account_id(bigint) is
  'The id in ledger.accounts of the escrow of an exclusive event. Events begin at 1, so it is '
  'above that of the outside world.';
