create or replace function admin.pay_out_fees(amount_cents bigint, reference text)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_repeated boolean;
begin
  perform admin.check_approval('pay_out_fees', pay_out_fees.amount_cents);
  perform ledger.lock_outside_world();
  v_is_repeated := exists (
    select from ledger.fee_payouts as f where f.reference = pay_out_fees.reference
  );
  if not v_is_repeated then
    perform admin.count_cash('fee_payout', pay_out_fees.amount_cents);
  end if;
  perform trading.pay_out_fees(pay_out_fees.amount_cents, pay_out_fees.reference);
  perform admin.audit('pay_out_fees', jsonb_strip_nulls(jsonb_build_object(
    'amount_cents', pay_out_fees.amount_cents,
    'reference', pay_out_fees.reference,
    'repeated', nullif(v_is_repeated, false)
  )));
  return (select coalesce(sum(s.revenue_cents), 0)::bigint from trading.market_state as s);
end
$$;

comment on function admin.pay_out_fees(bigint, text) is
  'Takes cents out of the fee revenue, once for each reference; returns the revenue left, of all '
  'markets. The markets with the highest revenue pay first, at most 1,000 by one call. Errors: '
  'APPROVAL_REQUIRED, INVALID_REQUEST, ALREADY_EXISTS (the reference, another amount), '
  'INSUFFICIENT_BALANCE (more than there is), INVALID_STATE (over a cap). Locks: the outside '
  'world, then those markets in ascending id.';
