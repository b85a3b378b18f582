create table ledger.accounts (
  id bigint generated always as identity primary key,
  kind ledger.account_kind not null,
  user_id bigint references identity.users (id),
  market_id bigint references catalog.markets (id),
  balance_cents bigint not null default 0,
  external_cents bigint not null default 0,
  overdraft_cents core.amount not null default 0,
  version core.amount not null default 0,
  moved_on date not null default '-infinity',
  constraint accounts_belong_to_what_their_kind_says check (
    (kind = 'user_cash') = (user_id is not null)
    and (kind in ('market_escrow', 'fee_revenue')) = (market_id is not null)
  ),
  constraint accounts_stay_above_zero_but_for_the_outside_and_corrections
    check (kind = 'outside_world' or balance_cents + overdraft_cents >= 0),
  constraint accounts_overdraft_and_external_cash_are_a_users
    check (kind = 'user_cash' or (overdraft_cents = 0 and external_cents = 0))
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);

create unique index accounts_one_of_the_outside_world on ledger.accounts (kind)
  where kind = 'outside_world';
create unique index accounts_one_of_a_user on ledger.accounts (user_id)
  where user_id is not null;
create unique index accounts_one_of_a_kind_of_a_market on ledger.accounts (market_id, kind)
  where market_id is not null;

comment on table ledger.accounts is
  'Where cash is. A user''s row is also the lock on that user: whoever moves the cash of users or '
  'judges their gates locks their rows first, in ascending id. A market''s two rows are guarded '
  'by the market''s advisory lock.';
comment on column ledger.accounts.balance_cents is
  'EUR-cents; equals the sum of the account''s entries and the balance after its last one.';
comment on column ledger.accounts.external_cents is
  'Deposits less withdrawals of a user. external_cents - balance_cents is the net cash the user '
  'has put into trading.';
comment on column ledger.accounts.overdraft_cents is
  'How far a correction of a resolution, and nothing else, took the user below zero.';
comment on column ledger.accounts.version is 'Number of entries of this account.';
comment on column ledger.accounts.moved_on is
  'UTC day of the last entry; -infinity before the first.';

insert into ledger.accounts (kind) values ('outside_world');
