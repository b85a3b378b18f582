create or replace view admin.cash_caps as
select
  c.kind::text as kind,
  c.per_call_cents,
  c.per_day_cents
from admin.caps as c;

comment on view admin.cash_caps is
  'How much cash one member of staff, login or key may move, as admin.set_cash_cap sets it.';
comment on column admin.cash_caps.kind is
  'deposit, withdrawal, bonus, adjustment, reversal or fee_payout.';
comment on column admin.cash_caps.per_call_cents is 'By one call; null: no cap.';
comment on column admin.cash_caps.per_day_cents is 'By all calls of a day (UTC); null: no cap.';
