create or replace function admin.count_cash(kind ledger.journal_kind, amount_cents numeric)
returns void
language plpgsql volatile
as $$
declare
  v_day constant date := (core.now() at time zone 'UTC')::date;
  v_most_cents bigint;
  v_acting record;
  v_mover text;
  v_moved_cents numeric;
begin
  if coalesce(count_cash.amount_cents, 0) = 0 then
    return;
  end if;
  select a.* into v_acting from identity.acting() as a;
  select s.public_id::text into v_mover
  from identity.staff as s
  where s.id = coalesce(
    (select p.proposed_by from admin.proposed_calls as p where p.is_running), v_acting.staff_id
  );
  v_mover := coalesce(v_mover, concat_ws(' ', v_acting.login, v_acting.staff_key));

  insert into admin.moved_cash as m (kind, mover, day, moved_cents)
  values (count_cash.kind, v_mover, v_day, abs(count_cash.amount_cents))
  on conflict on constraint moved_cash_pkey do update set
    moved_cents = m.moved_cents + excluded.moved_cents;
  -- Later days are there if the clock was set back.
  select sum(m.moved_cents) into v_moved_cents
  from admin.moved_cash as m
  where m.kind = count_cash.kind
    and m.mover = v_mover
    and m.day >= v_day;
  perform admin.check_call_cap(count_cash.kind, count_cash.amount_cents);
  select c.per_day_cents into strict v_most_cents
  from admin.caps as c
  where c.kind = count_cash.kind;
  if v_moved_cents > v_most_cents then
    perform core.raise_error('INVALID_STATE', format(
      'The cap of the day is %s cents as a %s, of which %s cents are left', v_most_cents,
      replace(count_cash.kind::text, '_', ' '),
      greatest(v_most_cents - v_moved_cents + abs(count_cash.amount_cents), 0)
    ));
  end if;
end
$$;

comment on function admin.count_cash(ledger.journal_kind, numeric) is
  'Counts cash that a call is about to move for who calls, or proposed the call, and refuses what '
  'is over a cap, whatever its sign. The caller holds the lock of the outside world, so no two '
  'calls count at once. Private to the schema. Errors: INVALID_STATE, UNAUTHORIZED.';
