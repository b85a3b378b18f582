create or replace function ledger.is_settled()
returns boolean
language sql volatile
return exists (
  select from ledger.settled_ids() as s where s.sequence_name = 'ledger.journal_ids'
);

comment on function ledger.is_settled() is
  'Whether all trades and journals that had an id when it was called are committed or gone. It '
  'waits a second for that; false, if a transaction stays open for longer.';
