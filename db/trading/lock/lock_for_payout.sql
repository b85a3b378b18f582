create or replace function trading.lock_for_payout(market_id bigint, yes_payout_cents int)
returns void
language plpgsql
as $$
declare
  v_event_id bigint;
begin
  perform catalog.lock_event(lock_for_payout.market_id);
  select o.event_id into v_event_id
  from trading.payouts_of_others as o
  where o.market_id = lock_for_payout.market_id
    and o.yes_payout_cents + lock_for_payout.yes_payout_cents >= 100;
  if found then
    perform trading.lock_event_markets(v_event_id);
  else
    perform trading.lock_market(lock_for_payout.market_id);
  end if;
end
$$;

comment on function trading.lock_for_payout(bigint, int) is
  'Locks what changes when the YES shares of a market pay so many cents, until the transaction '
  'ends: the row of its event, then the market. If that leaves nothing to the other markets of an '
  'exclusive event, all its markets by ascending id: the open ones are closed, and the ones that '
  'paid are corrected. Errors: UNFIT_SESSION.';
