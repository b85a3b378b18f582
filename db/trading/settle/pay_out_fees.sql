create or replace function trading.pay_out_fees(amount_cents bigint, reference text)
returns void
language plpgsql
as $$
declare
  c_most_markets constant int := 1000;
  v_paid_cents bigint;
  v_market_ids bigint[];
  v_reach_cents numeric;
  v_all_cents numeric;
  v_account_ids bigint[];
  v_amounts_cents bigint[];
  v_journal_id bigint;
begin
  perform ledger.check_movement('fee_payout', pay_out_fees.amount_cents, pay_out_fees.reference);
  perform ledger.lock_outside_world();

  select p.amount_cents into v_paid_cents
  from ledger.fee_payouts as p
  where p.reference = pay_out_fees.reference;
  if found then
    if v_paid_cents <> pay_out_fees.amount_cents then
      perform core.raise_error('ALREADY_EXISTS', format(
        'The reference %L is already used for a fee payout of %s cents',
        pay_out_fees.reference, v_paid_cents
      ));
    end if;
    return;
  end if;

  -- The markets with the highest fees, as few as are enough. Only a payout makes fees less, and
  -- there is no other while the outside world is locked: so they are enough once they are locked.
  select
    array_agg(x.market_id order by x.market_id)
      filter (where x.before_cents < pay_out_fees.amount_cents),
    coalesce(sum(x.revenue_cents), 0)
  into v_market_ids, v_reach_cents
  from (
    select
      s.market_id, s.revenue_cents,
      sum(s.revenue_cents) over (order by s.revenue_cents desc, s.market_id)
        - s.revenue_cents as before_cents
    from trading.market_state as s
    where s.revenue_cents > 0
    order by s.revenue_cents desc, s.market_id
    limit c_most_markets
  ) as x;
  if v_reach_cents < pay_out_fees.amount_cents then
    select coalesce(sum(s.revenue_cents), 0) into v_all_cents
    from trading.market_state as s;
    if v_all_cents < pay_out_fees.amount_cents then
      perform core.raise_error('INSUFFICIENT_BALANCE', format(
        'The fees are only %s cents', v_all_cents
      ));
    end if;
    perform core.raise_error('INVALID_REQUEST', format(
      'A payout takes the fees of at most %s markets, which have %s cents: pay out the rest by '
      'another one', c_most_markets, v_reach_cents
    ));
  end if;

  perform trading.lock_markets(v_market_ids);
  select array_agg(x.account_id), array_agg(-x.part_cents)
  into v_account_ids, v_amounts_cents
  from (
    select
      ledger.revenue_account_id(s.market_id) as account_id,
      least(
        s.revenue_cents,
        pay_out_fees.amount_cents + s.revenue_cents
          - sum(s.revenue_cents) over (order by s.revenue_cents desc, s.market_id)
      )::bigint as part_cents
    from trading.market_state as s
    where s.market_id = any (v_market_ids)
  ) as x
  where x.part_cents > 0;

  v_journal_id := ledger.post_journal(
    'fee_payout',
    null,
    ledger.outside_account_id() || v_account_ids,
    pay_out_fees.amount_cents || v_amounts_cents,
    core.now()
  );
  insert into ledger.fee_payouts (journal_id, reference, amount_cents)
  values (v_journal_id, pay_out_fees.reference, pay_out_fees.amount_cents);
end
$$;

comment on function trading.pay_out_fees(bigint, text) is
  'Takes cents out of the fee revenue of markets, once for each reference: from the highest '
  'revenue on, of at most 1,000 markets. Errors: INVALID_REQUEST, ALREADY_EXISTS (the reference '
  'with another amount), INSUFFICIENT_BALANCE, UNFIT_SESSION. Locks: the outside world, then those '
  'markets in ascending id.';
