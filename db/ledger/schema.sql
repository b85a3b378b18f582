create schema ledger authorization exchange_owner;
comment on schema ledger is
  'Every cent, by double entry: accounts, journals, entries. Append-only, and checked by '
  'ledger.verify(). Private.';
