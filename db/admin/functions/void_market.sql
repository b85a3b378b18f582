create or replace function admin.void_market(market_id uuid, reason text)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_summary jsonb;
begin
  perform admin.check_approval('void_market');
  perform core.check_reason(void_market.reason);
  v_summary := trading.void_market(
    catalog.market_id(void_market.market_id), void_market.reason
  );
  perform admin.audit('void_market', jsonb_build_object(
    'market_id', void_market.market_id,
    'reason', void_market.reason
  ));
  return v_summary;
end
$$;

comment on function admin.void_market(uuid, text) is
  'Undoes a market, resolved or not, for a reason that is kept: its orders end, and every user '
  'gets back what went in and pays back what came out, fees included, below zero if need be '
  '(admin.receivables). It ends as resolved, custom at 50, which pays nothing. Returns {users, '
  'movedCents, feeCents, usersBelowZero}. Errors: APPROVAL_REQUIRED, INVALID_REQUEST, NOT_FOUND, '
  'INVALID_STATE (voided already). Locks: the outside world, the row of the event, the market, '
  'then the users whose cash moves.';
