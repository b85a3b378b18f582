create table admin.caps (
  kind ledger.journal_kind primary key,
  per_call_cents bigint,
  per_day_cents bigint,
  constraint caps_of_a_call_are_not_below_zero check (per_call_cents >= 0),
  constraint caps_of_a_day_are_not_below_zero check (per_day_cents >= 0)
);

comment on table admin.caps is
  'How much cash one member of staff, login or key may move, by the kind of the movement.';
comment on column admin.caps.per_call_cents is 'By one call; null: no cap.';
comment on column admin.caps.per_day_cents is 'By all calls of a day (UTC); null: no cap.';

insert into admin.caps (kind)
values ('deposit'), ('withdrawal'), ('bonus'), ('adjustment'), ('reversal'), ('fee_payout');
