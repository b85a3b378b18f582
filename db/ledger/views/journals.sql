create or replace view ledger.journals as
select j.id, j.kind, j.market_id, j.created_at
from ledger.posted_journals as j
union all
select t.id, 'trade', t.market_id, t.created_at
from trading.trades as t;

comment on view ledger.journals is
  'One row for each movement of cash; its lines are ledger.entries. A trade is its own journal, '
  'with the same id.';
comment on column ledger.journals.id is
  'From the sequence ledger.journal_ids; of a trade the id of the trade.';
comment on column ledger.journals.kind is 'Why cash moved.';
comment on column ledger.journals.market_id is
  'Null for deposits, withdrawals, bonuses, adjustments, reversals, fee payouts, and for converts '
  'and redeems, which are of an event.';
comment on column ledger.journals.created_at is 'When it happened.';
