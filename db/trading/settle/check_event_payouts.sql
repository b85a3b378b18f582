create or replace function trading.check_event_payouts()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_event record;
begin
  select
    e.title,
    e.escrow_cents,
    coalesce(sum(m.yes_payout_cents) filter (where v.id is null), 0) as cents,
    bool_and(m.status = 'resolved' and v.id is null) as are_resolved
  into v_event
  from catalog.markets as x
  join catalog.events as e on e.id = x.event_id and e.exclusive
  join catalog.markets as m on m.event_id = e.id
  left join trading.voids as v on v.market_id = m.id and v.trade_id is null
  where x.id = new.market_id
  group by e.id;
  if v_event.cents > 100
    or v_event.are_resolved and (v_event.cents < 100 or v_event.escrow_cents <> 0)
  then
    perform core.raise_error('INVALID_STATE', format(
      'The YES shares of the exclusive event %L would pay %s cents in all, and %s cents would be '
      'left for them', v_event.title, v_event.cents, v_event.escrow_cents
    ));
  end if;
  return null;
end
$$;

comment on function trading.check_event_payouts() is
  'Trigger, at the end of the command and of the transaction: the YES shares of the resolved '
  'markets of an exclusive event pay at most 100 cents, and once all are resolved exactly 100, '
  'with nothing left of the escrow of the event. A voided market pays nothing; with one, less is '
  'possible. Errors: INVALID_STATE.';
