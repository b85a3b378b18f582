create sequence ledger.journal_ids;
comment on sequence ledger.journal_ids is 'Ids of trades and of all other journals.';

create table ledger.posted_journals (
  id bigint primary key default nextval('ledger.journal_ids'),
  kind ledger.journal_kind not null,
  market_id bigint,
  created_at timestamptz not null,
  constraint posted_journals_are_not_trades check (kind <> 'trade'),
  constraint posted_journals_of_trading_name_their_market check (
    (
      kind in (
        'deposit', 'withdrawal', 'bonus', 'adjustment', 'reversal', 'fee_payout', 'convert',
        'redeem'
      )
    ) = (market_id is null)
  )
);

create index posted_journals_of_a_market on ledger.posted_journals (market_id)
  where market_id is not null;

create trigger posted_journals_are_append_only
  before update or delete or truncate on ledger.posted_journals
  for each statement execute function ledger.refuse_change();

comment on table ledger.posted_journals is
  'The journals of everything but trades: one row for each movement of cash; its lines are '
  'ledger.posted_entries. A trade is its own journal. ledger.journals shows both. Append-only.';
