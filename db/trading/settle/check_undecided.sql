create or replace function trading.check_undecided(market_id bigint)
returns void
language plpgsql
as $$
declare
  v_title text;
begin
  select o.title into v_title
  from trading.payouts_of_others as o
  where o.market_id = check_undecided.market_id
    and o.yes_payout_cents = 100;
  if found then
    perform core.raise_error('INVALID_STATE', format(
      'The event is exclusive and its other markets pay all of the 100 cents (%L pays the most): '
      'this one can only be resolved', v_title
    ));
  end if;
end
$$;

comment on function trading.check_undecided(bigint) is
  'Refuses to open a market of an exclusive event of which the others pay 100 cents in all: its '
  'YES shares are worth nothing. The caller holds the market''s lock, under which such a market is '
  'closed. Errors: INVALID_STATE.';
