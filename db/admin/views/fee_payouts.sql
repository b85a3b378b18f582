create or replace view admin.fee_payouts as
select
  p.journal_id as journal_key,
  m.id as market_key,
  m.public_id as market_id,
  p.reference,
  - e.amount_cents as amount_cents,
  j.created_at
from ledger.fee_payouts as p
join ledger.posted_entries as e on e.journal_id = p.journal_id and e.account_id % 4 = 2
left join ledger.posted_journals as j on j.id = p.journal_id
left join catalog.markets as m on m.id = e.account_id / 4 and e.account_id = m.id * 4 + 2;

comment on view admin.fee_payouts is
  'Fees that left the exchange: a row for each payout and market whose fees it took.';
comment on column admin.fee_payouts.journal_key is
  'The journal that moved the cash: internal key, for joins. A payout is one journal.';
comment on column admin.fee_payouts.market_key is 'The market: internal key, for joins.';
comment on column admin.fee_payouts.market_id is 'The market: public id.';
comment on column admin.fee_payouts.reference is
  'The operator''s reference, which made the payout happen once.';
comment on column admin.fee_payouts.amount_cents is
  'The market''s part of the payout, above zero.';
comment on column admin.fee_payouts.created_at is 'When it happened.';
