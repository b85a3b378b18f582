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
  return v_summary;
end
$$;

comment on function admin.correct_resolution(uuid, text, text, int, text) is
  'Corrects the resolution of a market to another outcome (custom at another payout is another '
  'one), for a reason that everybody can read, as the evidence. Returns what resolve_market does, '
  'and {movedCents, usersBelowZero}: it may take balances below zero. Errors: APPROVAL_REQUIRED, '
  'INVALID_REQUEST, NOT_FOUND, INVALID_STATE (not resolved, voided, that way already, or beyond '
  '100 cents for the YES shares of an exclusive event: correct the other market first). Locks: the '
  'row of the event, the market, then the users whose cash moves.';
