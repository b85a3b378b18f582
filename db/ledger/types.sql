create type ledger.account_kind as enum (
  'outside_world', 'user_cash', 'market_escrow', 'fee_revenue', 'event_escrow'
);
comment on type ledger.account_kind is
  'outside_world mirrors all cash that comes in and goes out; user_cash is one per user; '
  'market_escrow and fee_revenue are one each per market; event_escrow is one per exclusive event.';

create type ledger.journal_kind as enum (
  'deposit', 'withdrawal', 'trade', 'split', 'merge', 'settlement', 'correction', 'void',
  'bonus', 'adjustment', 'reversal', 'fee_payout', 'convert', 'redeem'
);
comment on type ledger.journal_kind is 'Why cash moved.';
