create or replace function trading.resolve_market(
  market_id bigint, outcome catalog.outcome, yes_payout_cents int, evidence text
)
returns jsonb
language plpgsql
as $$
declare
  v_status catalog.market_status;
  v_closed jsonb;
  v_summary jsonb;
begin
  perform trading.lock_for_payout(resolve_market.market_id, resolve_market.yes_payout_cents);
  select m.status into strict v_status
  from catalog.markets as m
  where m.id = resolve_market.market_id
  for no key update;
  if v_status = 'resolved' then
    perform core.raise_error('INVALID_STATE', case
      when exists (
        select
        from trading.voids as v
        where v.market_id = resolve_market.market_id
          and v.trade_id is null
      ) then 'The market is voided'
      else 'The market is already resolved; admin.correct_resolution corrects that'
    end);
  end if;
  perform trading.check_exclusive_payout(
    resolve_market.market_id, resolve_market.yes_payout_cents
  );

  perform trading.change_market_status(resolve_market.market_id, 'closed');
  v_closed := trading.close_decided(
    resolve_market.market_id, resolve_market.yes_payout_cents
  );
  v_summary := trading.settle_market(
    resolve_market.market_id, resolve_market.outcome, resolve_market.yes_payout_cents,
    null, null, resolve_market.evidence, core.now()
  );
  set constraints trading.resolutions_pay_100_in_an_exclusive_event immediate;
  set constraints trading.resolutions_pay_100_in_an_exclusive_event deferred;
  return v_summary || v_closed;
end
$$;

comment on function trading.resolve_market(bigint, catalog.outcome, int, text) is
  'Closes a market if it is not, and pays all its positions; closes the other markets of an '
  'exclusive event if nothing is left for them (trading.close_decided). Errors: INVALID_STATE '
  '(resolved already; a payout that the exclusive event does not allow). Locks: those of '
  'trading.lock_for_payout, the rows of the markets and of the category, then the users who are '
  'paid.';
