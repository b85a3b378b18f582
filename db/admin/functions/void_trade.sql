create or replace function admin.void_trade(trade_id uuid, reason text)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_summary jsonb;
begin
  perform admin.check_approval('void_trade');
  perform core.check_reason(void_trade.reason);
  v_summary := trading.void_trade(void_trade.trade_id, void_trade.reason);
  perform admin.audit('void_trade', jsonb_build_object(
    'trade_id', void_trade.trade_id,
    'reason', void_trade.reason
  ));
  return v_summary;
end
$$;

comment on function admin.void_trade(uuid, text) is
  'Undoes a trade of a market that is not resolved, for a reason that is kept: shares, cash and '
  'fee go back, below zero if need be (admin.receivables). Returns {marketId, quantity, takerId, '
  'takerCents, makerId, makerCents, feeCents, usersBelowZero}. Errors: APPROVAL_REQUIRED, '
  'INVALID_REQUEST, NOT_FOUND, INVALID_STATE (voided already, market resolved), '
  'INSUFFICIENT_BALANCE (a buyer does not have the shares any more). Locks: the outside world, '
  'the market, then both users.';
