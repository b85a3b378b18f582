create or replace function trading.correct_resolution(
  market_id bigint, outcome catalog.outcome, yes_payout_cents int, reason text, evidence text
)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_corrected trading.resolutions;
begin
  perform catalog.lock_event(correct_resolution.market_id);
  perform trading.lock_market(correct_resolution.market_id);
  perform
  from catalog.markets as m
  where m.id = correct_resolution.market_id
  for no key update;

  if exists (
    select
    from trading.voids as v
    where v.market_id = correct_resolution.market_id
      and v.trade_id is null
  ) then
    perform core.raise_error('INVALID_STATE', 'The market is voided');
  end if;
  select r.* into v_corrected
  from trading.resolutions as r
  where r.market_id = correct_resolution.market_id
  order by r.id desc
  limit 1;
  if not found then
    perform core.raise_error('INVALID_STATE', 'The market is not resolved');
  elsif (v_corrected.outcome, v_corrected.yes_payout_cents)
    = (correct_resolution.outcome, correct_resolution.yes_payout_cents)
  then
    perform core.raise_error('INVALID_STATE', format(
      'The market already has this resolution: %s, a YES share pays %s cents',
      v_corrected.outcome, v_corrected.yes_payout_cents
    ));
  end if;
  perform trading.check_exclusive_payout(
    correct_resolution.market_id, correct_resolution.yes_payout_cents
  );

  return trading.settle_market(
    correct_resolution.market_id, correct_resolution.outcome,
    correct_resolution.yes_payout_cents, v_corrected, correct_resolution.reason,
    correct_resolution.evidence, core.now()
  );
end
$$;

comment on function trading.correct_resolution(
  bigint, catalog.outcome, int, text, text
) is
  'Corrects the resolution of a market that holds: moves the difference of each user. Errors: '
  'INVALID_STATE (also for a payout that the exclusive event does not allow). Locks: the row of '
  'its event, the market, its row, then the users whose cash moves.';
