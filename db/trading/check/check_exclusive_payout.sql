create or replace function trading.check_exclusive_payout(market_id bigint, yes_payout_cents int)
returns void
language plpgsql
as $$
declare
  v_others trading.payouts_of_others;
  v_cents int;
begin
  select o.* into v_others
  from trading.payouts_of_others as o
  where o.market_id = check_exclusive_payout.market_id;
  if not found then
    return;
  end if;
  v_cents := v_others.yes_payout_cents + check_exclusive_payout.yes_payout_cents;

  if v_cents > 100 then
    perform core.raise_error('INVALID_STATE', format(
      'The event is exclusive: its YES shares would pay %s cents in all, and may pay 100 '
      '(%L pays the most)', v_cents, v_others.title
    ));
  elsif v_others.are_resolved and v_cents < 100 then
    perform core.raise_error('INVALID_STATE', format(
      'The event is exclusive and this is its last market: a YES share must pay the %s cents that '
      'are left of 100', 100 - v_others.yes_payout_cents
    ));
  end if;
end
$$;

comment on function trading.check_exclusive_payout(bigint, int) is
  'Refuses that a market is resolved so that the YES shares of an exclusive event would pay more '
  'than 100 cents in all, or, if it is the last of its markets, less. A voided market pays '
  'nothing; with one, less is allowed. Does nothing for a market of another event or of none. The '
  'caller holds the row of the event. Errors: INVALID_STATE.';
