create or replace function trading.correct_resolution(
  market_id bigint, outcome catalog.outcome, yes_payout_cents int, reason text, evidence text
)
returns jsonb
language plpgsql
as $$
declare
  v_at timestamptz;
  v_corrected trading.resolutions;
  v_taken record;
  v_taken_ids bigint[];
  v_left_cents int[]; -- what each of them pays then
  v_others jsonb := '[]'::jsonb;
  v_closed jsonb;
  v_summary jsonb;
begin
  perform trading.lock_for_payout(
    correct_resolution.market_id, correct_resolution.yes_payout_cents
  );
  v_at := core.now();
  if exists (
    select
    from trading.voids as v
    where v.market_id = correct_resolution.market_id
      and v.trade_id is null
  ) then
    perform core.raise_error('INVALID_STATE', 'The market is voided');
  end if;
  v_corrected := trading.resolution_in_force(correct_resolution.market_id);
  if v_corrected.id is null then
    perform core.raise_error('INVALID_STATE', 'The market is not resolved');
  elsif (v_corrected.outcome, v_corrected.yes_payout_cents)
    = (correct_resolution.outcome, correct_resolution.yes_payout_cents)
  then
    perform core.raise_error('INVALID_STATE', format(
      'The market already has this resolution: %s, a YES share pays %s cents',
      v_corrected.outcome, v_corrected.yes_payout_cents
    ));
  end if;

  select coalesce(array_agg(p.taken_id), '{}'), array_agg(p.left_cents)
  into v_taken_ids, v_left_cents
  from trading.payouts_to_take(
    correct_resolution.market_id, correct_resolution.yes_payout_cents
  ) as p;
  v_closed := trading.close_decided(
    correct_resolution.market_id, correct_resolution.yes_payout_cents
  );
  perform trading.lock_settled(v_taken_ids || correct_resolution.market_id);

  -- First what is taken, so that no more than 100 cents are paid at any moment.
  for v_taken in
    select m.id, m.public_id, m.title, p.left_cents
    from unnest(v_taken_ids, v_left_cents) as p (id, left_cents)
    join catalog.markets as m on m.id = p.id
    order by m.id
  loop
    v_summary := trading.settle_market(
      v_taken.id,
      case v_taken.left_cents when 0 then 'no' else 'custom' end::catalog.outcome,
      v_taken.left_cents, trading.resolution_in_force(v_taken.id),
      correct_resolution.reason, correct_resolution.evidence, v_at
    );
    v_others := v_others || (
      jsonb_build_object('marketId', v_taken.public_id, 'title', v_taken.title)
      || v_summary - 'usersBelowZero'
    );
  end loop;
  v_summary := trading.settle_market(
    correct_resolution.market_id, correct_resolution.outcome,
    correct_resolution.yes_payout_cents, v_corrected, correct_resolution.reason,
    correct_resolution.evidence, v_at
  );
  set constraints trading.resolutions_pay_100_in_an_exclusive_event immediate;
  set constraints trading.resolutions_pay_100_in_an_exclusive_event deferred;

  if v_others <> '[]' then
    v_summary := v_summary || jsonb_build_object(
      'usersBelowZero', (
        select count(*)
        from trading.traders as t
        where t.balance_cents < 0
          and t.user_id in (
            select h.user_id
            from trading.holdings as h
            where h.market_id = any (v_taken_ids || correct_resolution.market_id)
              and h.yes_quantity <> h.no_quantity
          )
      ),
      'others', v_others
    );
  end if;
  return v_summary || v_closed;
end
$$;

comment on function trading.correct_resolution(
  bigint, catalog.outcome, int, text, text
) is
  'Corrects the resolution of a market that holds: moves the difference of each user. In an '
  'exclusive event it also corrects the markets that pay less then (trading.payouts_to_take), and '
  'closes those for which nothing is left (trading.close_decided). Errors: INVALID_STATE (also for '
  'a payout that the exclusive event does not allow). Locks: those of trading.lock_for_payout, the '
  'rows of the markets and of the category, then the users whose cash moves.';
