create or replace function trading.payouts_to_take(market_id bigint, yes_payout_cents int)
returns table (taken_id bigint, left_cents int)
language plpgsql stable
as $$
declare
  v_others trading.payouts_of_others;
  v_most record;
  v_beyond_cents int;
begin
  select o.* into v_others
  from trading.payouts_of_others as o
  where o.market_id = payouts_to_take.market_id;
  v_beyond_cents := v_others.yes_payout_cents + payouts_to_take.yes_payout_cents - 100;
  if v_beyond_cents < 0 and v_others.are_resolved then
    perform core.raise_error('INVALID_STATE', format(
      'The event is exclusive and all its markets are resolved: correct the market that gets the '
      '%s cents that this one would lose, to YES if it is the right one; this one is corrected '
      'in the same call', -v_beyond_cents
    ));
  elsif (v_beyond_cents > 0) is not true then
    return;
  end if;

  select o.id, o.title, o.yes_payout_cents into strict v_most
  from trading.paying_markets(payouts_to_take.market_id) as o
  order by o.yes_payout_cents desc, o.id
  limit 1;
  if payouts_to_take.yes_payout_cents = 100 then
    return query
      select o.id, 0 from trading.paying_markets(payouts_to_take.market_id) as o order by o.id;
  elsif v_most.yes_payout_cents < v_beyond_cents then
    perform core.raise_error('INVALID_STATE', format(
      'The event is exclusive: %s cents would come from another market, and the one that pays the '
      'most (%L) pays %s. Correct the market that gets the most to YES, then the others',
      v_beyond_cents, v_most.title, v_most.yes_payout_cents
    ));
  else
    return query select v_most.id, v_most.yes_payout_cents - v_beyond_cents;
  end if;
end
$$;

comment on function trading.payouts_to_take(bigint, int) is
  'The other markets of an exclusive event that are corrected with a market whose YES shares are '
  'to pay so many cents, and what theirs pay then: nothing if it is all of the 100; else the one '
  'that pays the most gives what would be beyond 100 (of several, the first). No rows for a market '
  'of another event or of none. The caller holds the row of the event. Errors: INVALID_STATE (all '
  'markets are resolved and would pay less than 100 in all; no market pays enough to give).';
