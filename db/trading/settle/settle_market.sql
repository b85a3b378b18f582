-- The sets are as long as the market has positions: plans are made for their length, so none is
-- generic, and JIT would cost more than it saves.
create or replace function trading.settle_market(
  market_id bigint,
  outcome catalog.outcome,
  yes_payout_cents int,
  corrected trading.resolutions,
  reason text,
  evidence text,
  at timestamptz
)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
set work_mem = '64MB'
as $$
declare
  v_resolution_id constant bigint := nextval('trading.resolutions_id_seq');
  v_is_first constant boolean := (corrected).id is null;
  v_settled record;
  v_yes_more_cents int;
  v_no_more_cents int;
  v_user_ids bigint[];
  v_account_ids bigint[];
  v_amounts_cents bigint[];
  v_journal_id bigint;
  v_summary jsonb;
begin
  -- 1. What belongs to the market, while its users are not locked yet. The status comes first: it
  -- locks the row of the category, which must be locked before any user.
  update catalog.markets as m set
    status = 'resolved',
    open_time = null,
    resolved_outcome = settle_market.outcome,
    yes_payout_cents = settle_market.yes_payout_cents,
    resolved_at = coalesce(m.resolved_at, settle_market.at)
  where m.id = settle_market.market_id;

  with settled as (
    insert into trading.settlements (
      resolution_id, market_id, user_id, side,
      quantity, payout_cents, cost_cents, fee_cents, realised_cents
    )
    select
      v_resolution_id, settle_market.market_id, p.user_id, p.side,
      p.quantity, p.payout_cents, p.cost_cents, p.fee_cents, p.realised_cents
    from trading.payouts(settle_market.market_id, settle_market.yes_payout_cents) as p
    returning user_id, payout_cents
  )
  select
    count(*) as positions,
    count(distinct s.user_id) as users,
    coalesce(sum(s.payout_cents), 0)::bigint as payout_cents
  into v_settled
  from settled as s;

  -- What was paid for the shares stays with them, so a correction moves what a share pays more.
  v_yes_more_cents := settle_market.yes_payout_cents - coalesce((corrected).yes_payout_cents, 0);
  v_no_more_cents := case
    when v_is_first then 100 - settle_market.yes_payout_cents
    else -v_yes_more_cents
  end;
  update trading.holdings as h set
    yes_realised_cents = h.yes_realised_cents + h.yes_quantity * v_yes_more_cents
      - case when v_is_first then h.yes_cost_cents + h.yes_fee_cents else 0 end,
    no_realised_cents = h.no_realised_cents + h.no_quantity * v_no_more_cents
      - case when v_is_first then h.no_cost_cents + h.no_fee_cents else 0 end
  where h.market_id = settle_market.market_id
    and (h.yes_quantity > 0 or h.no_quantity > 0);

  -- 2. Cash: computed, then locked in the order of the users, then moved.
  select
    array_agg(l.user_id),
    array_agg(ledger.user_account_id(l.user_id)),
    array_agg(l.amount_cents)
  into v_user_ids, v_account_ids, v_amounts_cents
  from (
    select t.user_id, d.amount_cents
    from (
      select
        h.user_id,
        h.yes_quantity * v_yes_more_cents + h.no_quantity * v_no_more_cents as amount_cents
      from trading.holdings as h
      where h.market_id = settle_market.market_id
    ) as d
    join trading.traders as t on t.user_id = d.user_id
    where d.amount_cents <> 0
    order by t.user_id
    for no key update of t
  ) as l;

  -- Escrow pays all that it has. Conversions leave more shares of one side than of the other: what
  -- these are paid is of the event.
  select ledger.post_journal(
    case when v_is_first then 'settlement' else 'correction' end::ledger.journal_kind,
    settle_market.market_id, array_agg(l.account_id), array_agg(l.amount_cents), settle_market.at
  )
  into v_journal_id
  from (
    select u.account_id, u.amount_cents
    from unnest(v_account_ids, v_amounts_cents) as u (account_id, amount_cents)
    union all
    select x.account_id, x.amount_cents
    from catalog.markets as m
    join trading.market_state as s on s.market_id = m.id
    cross join lateral (
      values
        (ledger.escrow_account_id(m.id), -s.escrow_cents::bigint),
        (
          ledger.event_account_id(m.event_id),
          s.escrow_cents - (
            select coalesce(sum(u.cents), 0)::bigint from unnest(v_amounts_cents) as u (cents)
          )
        )
    ) as x (account_id, amount_cents)
    where m.id = settle_market.market_id
      and x.amount_cents <> 0
  ) as l
  having count(*) > 0;

  insert into trading.resolutions (
    id, market_id, journal_id, outcome, yes_payout_cents, corrects_resolution_id, reason,
    position_count, payout_cents, created_at, evidence
  )
  values (
    v_resolution_id, settle_market.market_id, v_journal_id, settle_market.outcome,
    settle_market.yes_payout_cents, (corrected).id, settle_market.reason,
    v_settled.positions, v_settled.payout_cents, settle_market.at,
    settle_market.evidence
  );

  if v_is_first then
    perform trading.announce_market_status(settle_market.market_id, 'resolved');
  end if;
  perform trading.announce_settlement(
    v_resolution_id, settle_market.market_id, settle_market.outcome
  );

  v_summary := jsonb_build_object(
    'outcome', settle_market.outcome,
    'yesPayoutCents', settle_market.yes_payout_cents,
    'positions', v_settled.positions,
    'users', v_settled.users,
    'payoutCents', v_settled.payout_cents
  );
  if not v_is_first then
    v_summary := v_summary || jsonb_build_object(
      'movedCents', (
        select coalesce(greatest(
          sum(l.cents) filter (where l.cents > 0), - sum(l.cents) filter (where l.cents < 0)
        ), 0)
        from unnest(v_amounts_cents) as l (cents)
      ),
      'usersBelowZero', (
        select count(*)
        from trading.traders as t
        where t.user_id = any (v_user_ids)
          and t.balance_cents < 0
      )
    );
  end if;
  return v_summary;
end
$$;

comment on function trading.settle_market(
  bigint, catalog.outcome, int, trading.resolutions, text, text, timestamptz
) is
  'Pays the positions of a closed market by an outcome, all in one journal, or corrects the '
  'resolution that holds by the differences; tells its users; returns the operator''s summary. '
  'corrected and reason are null for the first resolution. The caller holds the market''s lock; '
  'locks the users whose cash moves, by ascending user, once all is computed.';
