create or replace view admin.cash_movements as
select
  c.journal_id as journal_key,
  c.user_id as user_key,
  u.public_id as user_id,
  c.kind::text as kind,
  c.reference,
  c.amount_cents,
  j.created_at,
  c.reason
from ledger.cash_movements as c
left join ledger.posted_journals as j on j.id = c.journal_id
left join identity.users as u on u.id = c.user_id;

comment on view admin.cash_movements is
  'Cash of users that came in or went out: deposits, withdrawals, bonuses, adjustments and '
  'reversals.';
comment on column admin.cash_movements.journal_key is
  'The journal that moved the cash: internal key, for joins.';
comment on column admin.cash_movements.user_key is 'The user: internal key, for joins.';
comment on column admin.cash_movements.user_id is 'The user: public id.';
comment on column admin.cash_movements.kind is
  'deposit, withdrawal, bonus, adjustment or reversal (of a deposit).';
comment on column admin.cash_movements.reference is
  'The operator''s reference, which made it happen once; of a bonus its name, play money for what '
  'a new account got; of a reversal that of the deposit.';
comment on column admin.cash_movements.amount_cents is
  'The amount, above zero, also for withdrawals and reversals; of an adjustment that took cash '
  'below zero.';
comment on column admin.cash_movements.created_at is 'When it happened.';
comment on column admin.cash_movements.reason is
  'Why a balance was adjusted or a deposit reversed; else null.';
