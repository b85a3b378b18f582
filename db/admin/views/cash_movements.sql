create view admin.cash_movements as
select
  x.journal_key,
  x.user_key,
  x.user_id,
  x.kind,
  c.reference,
  x.amount_cents,
  x.created_at
from analytics.cash_movements as x
join ledger.cash_movements as c on c.journal_id = x.journal_key;

comment on view admin.cash_movements is 'Deposits and withdrawals.';
comment on column admin.cash_movements.journal_key is
  'The journal that moved the cash: internal key, for joins.';
comment on column admin.cash_movements.user_key is 'The user: internal key, for joins.';
comment on column admin.cash_movements.user_id is 'The user: public id.';
comment on column admin.cash_movements.kind is 'deposit or withdrawal.';
comment on column admin.cash_movements.reference is
  'The operator''s reference, which made it happen once.';
comment on column admin.cash_movements.amount_cents is 'The amount, above zero for both kinds.';
comment on column admin.cash_movements.created_at is 'When it happened.';
