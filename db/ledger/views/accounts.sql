create or replace view ledger.accounts as
select
  ledger.outside_account_id() as id,
  'outside_world'::ledger.account_kind as kind,
  null::bigint as user_id,
  null::bigint as market_id,
  w.balance_cents,
  0::bigint as external_cents,
  0::bigint as overdraft_cents,
  w.account_version::bigint as version
from ledger.outside_world as w
union all
select
  ledger.user_account_id(t.user_id), 'user_cash', t.user_id, null,
  t.balance_cents, t.external_cents, t.overdraft_cents, t.account_version
from trading.traders as t
union all
select
  ledger.escrow_account_id(s.market_id), 'market_escrow', null, s.market_id,
  s.escrow_cents, 0, 0, s.escrow_version
from trading.market_state as s
union all
select
  ledger.revenue_account_id(s.market_id), 'fee_revenue', null, s.market_id,
  s.revenue_cents, 0, 0, s.revenue_version
from trading.market_state as s
union all
select
  ledger.event_account_id(e.id), 'event_escrow', null, null,
  e.escrow_cents, 0, 0, e.escrow_version
from catalog.events as e
where e.escrow_version > 0;

comment on view ledger.accounts is
  'Where cash is, each account in a row: the outside world, the users, the escrow and fee revenue '
  'of each market, and the escrow of each exclusive event in which shares were converted. Its rows '
  'are kept in ledger.outside_world, trading.traders, trading.market_state and catalog.events.';
comment on column ledger.accounts.id is
  'As ledger.user_account_id, escrow_account_id, revenue_account_id, event_account_id and '
  'outside_account_id give it.';
comment on column ledger.accounts.kind is
  'outside_world, user_cash, market_escrow, fee_revenue or event_escrow.';
comment on column ledger.accounts.user_id is 'Whose cash it is; null unless user_cash.';
comment on column ledger.accounts.market_id is
  'The market of market_escrow and fee_revenue; else null.';
comment on column ledger.accounts.balance_cents is
  'EUR-cents; equals the sum of the account''s entries and the balance after its last one.';
comment on column ledger.accounts.external_cents is
  'Deposits, bonuses and adjustments of a user, less withdrawals and reversals.';
comment on column ledger.accounts.overdraft_cents is
  'How far corrections, voids and reversals, and nothing else, took the user below zero.';
comment on column ledger.accounts.version is 'Number of entries of this account.';
