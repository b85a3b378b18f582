create or replace function admin.resolve_market(
  market_id uuid, outcome text, yes_payout_cents int default null,
  evidence text default null
)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_yes_payout_cents constant int := trading.yes_payout_cents(
    resolve_market.outcome, resolve_market.yes_payout_cents
  );
  v_market_id constant bigint := catalog.market_id(resolve_market.market_id);
  v_summary jsonb;
begin
  perform admin.check_approval('resolve_market');
  perform core.check_evidence(resolve_market.evidence);
  v_summary := trading.resolve_market(
    v_market_id, resolve_market.outcome::catalog.outcome, v_yes_payout_cents,
    resolve_market.evidence
  );
  perform admin.audit('resolve_market', jsonb_build_object(
    'market_id', resolve_market.market_id,
    'outcome', resolve_market.outcome,
    'yes_payout_cents', resolve_market.yes_payout_cents,
    'evidence', resolve_market.evidence
  ));
  return admin.audit_closings(v_summary, resolve_market.market_id);
end
$$;

comment on function admin.resolve_market(uuid, text, int, text) is
  'Resolves a market to yes, no or custom (with what a YES share pays, 0-100 cents; a NO share '
  'pays the rest), closing it first, and pays all positions. The evidence, of at most 2,000 '
  'characters, is what the outcome rests on, for everybody to read. Returns {outcome, '
  'yesPayoutCents, positions, users, payoutCents}. In an exclusive event the YES shares of all '
  'markets pay 100 cents in all; once they do, the open ones are closed, as many as closedMarkets '
  'says. Errors: APPROVAL_REQUIRED, INVALID_REQUEST, NOT_FOUND, INVALID_STATE. Locks: the row of '
  'the event, the market (or, when others are closed, all of the event by ascending id), then the '
  'users who are paid.';
