create or replace function admin.correct_resolution(
  market_id uuid, outcome text, reason text, yes_payout_cents int default null,
  evidence text default null
)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_yes_payout_cents constant int := trading.yes_payout_cents(
    correct_resolution.outcome, correct_resolution.yes_payout_cents
  );
  v_market_id bigint;
  v_summary jsonb;
  v_other jsonb;
begin
  perform admin.check_approval('correct_resolution');
  perform core.check_reason(correct_resolution.reason);
  perform core.check_evidence(correct_resolution.evidence);
  v_market_id := catalog.market_id(correct_resolution.market_id);
  v_summary := trading.correct_resolution(
    v_market_id, correct_resolution.outcome::catalog.outcome, v_yes_payout_cents,
    correct_resolution.reason, correct_resolution.evidence
  );
  perform admin.audit('correct_resolution', jsonb_build_object(
    'market_id', correct_resolution.market_id,
    'outcome', correct_resolution.outcome,
    'reason', correct_resolution.reason,
    'yes_payout_cents', correct_resolution.yes_payout_cents,
    'evidence', correct_resolution.evidence
  ));
  for v_other in select x.other from jsonb_array_elements(v_summary -> 'others') as x (other) loop
    perform admin.audit('correct_resolution', jsonb_build_object(
      'market_id', v_other -> 'marketId',
      'outcome', v_other -> 'outcome',
      'reason', correct_resolution.reason,
      'yes_payout_cents', v_other -> 'yesPayoutCents',
      'evidence', correct_resolution.evidence,
      'gives_to_market_id', correct_resolution.market_id
    ));
  end loop;
  return admin.audit_closings(v_summary, correct_resolution.market_id);
end
$$;

comment on function admin.correct_resolution(uuid, text, text, int, text) is
  'Corrects the resolution of a market to another outcome (custom at another payout is another '
  'one), for a reason that everybody can read, as the evidence. Returns what resolve_market does, '
  'and {movedCents, usersBelowZero}: it may take balances below zero. Errors: APPROVAL_REQUIRED, '
  'INVALID_REQUEST, NOT_FOUND, INVALID_STATE (not resolved, voided, that way already, or not for '
  'this exclusive event). In an exclusive event the market that is YES is corrected to NO in the '
  'same call, and has an audit row of its own: others lists it as {marketId, title, outcome, '
  'yesPayoutCents, positions, users, payoutCents, movedCents}; with a custom payout the market '
  'that pays the most gives it. Less is refused once all are resolved: correct the market that '
  'gets it. Locks: the row of the event, the market (or all of the event by ascending id), then '
  'the users whose cash moves.';
