create table ledger.posted_entries (
  journal_id bigint not null,
  account_id bigint not null,
  amount_cents bigint not null,
  balance_before_cents bigint not null,
  balance_after_cents bigint not null,
  account_version bigint not null,
  constraint posted_entries_follow_their_account_gaplessly
    primary key (account_id, account_version),
  constraint posted_entries_move_something check (amount_cents <> 0),
  constraint posted_entries_add_up check (balance_after_cents = balance_before_cents + amount_cents)
);

create index posted_entries_of_a_journal on ledger.posted_entries (journal_id);

create trigger posted_entries_are_append_only
  before update or delete or truncate on ledger.posted_entries
  for each statement execute function ledger.refuse_change();

create trigger posted_entries_balance_per_journal
  after insert on ledger.posted_entries
  referencing new table as new_entries
  for each statement execute function ledger.check_new_entries();

comment on table ledger.posted_entries is
  'The lines of ledger.posted_journals: signed cents on an account, with the balance before and '
  'after and the account''s version. All lines of a journal arrive in one statement and sum to '
  'zero. ledger.entries shows them with those of the trades. Append-only. No foreign keys: '
  'ledger.post_journal is the only writer, and ledger.verify() checks what they would.';
