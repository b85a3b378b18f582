create table ledger.entries (
  journal_id bigint not null,
  account_id bigint not null,
  amount_cents bigint not null,
  balance_before_cents bigint not null,
  balance_after_cents bigint not null,
  account_version bigint not null,
  constraint entries_follow_their_account_gaplessly primary key (account_id, account_version),
  constraint entries_move_something check (amount_cents <> 0),
  constraint entries_add_up check (balance_after_cents = balance_before_cents + amount_cents)
);

create index entries_of_a_journal on ledger.entries (journal_id);

create trigger entries_are_append_only
  before update or delete or truncate on ledger.entries
  for each statement execute function ledger.refuse_change();

create trigger entries_balance_per_journal
  after insert on ledger.entries
  referencing new table as new_entries
  for each statement execute function ledger.check_new_entries();

comment on table ledger.entries is
  'The lines of the journals: signed cents on an account, with the balance before and after and '
  'the account''s version. All lines of a journal arrive in one statement and sum to zero. '
  'Append-only. No foreign keys: ledger.post and ledger.post_journal are the only writers, and '
  'ledger.verify() proves what they would (the price of checking each line again is in '
  'docs/decisions.md).';
