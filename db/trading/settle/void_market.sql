-- The sets are as long as the market has positions: plans are made for their length, so none is
-- generic, and JIT would cost more than it saves.
create or replace function trading.void_market(market_id bigint, reason text)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
set work_mem = '64MB'
as $$
declare
  v_void_id constant bigint := nextval('trading.voids_id_seq');
  v_at timestamptz;
  v_is_resolved boolean;
  v_user_ids bigint[];
  v_account_ids bigint[];
  v_amounts_cents bigint[];
  v_moved_cents bigint;
  v_escrow_cents bigint;
  v_revenue_cents bigint;
  v_outside_cents bigint;
  v_journal_id bigint;
begin
  perform ledger.lock_outside_world();
  perform catalog.lock_event(void_market.market_id);
  perform trading.lock_market(void_market.market_id);
  v_at := core.now();
  select m.status = 'resolved' into strict v_is_resolved
  from catalog.markets as m
  where m.id = void_market.market_id
  for no key update;
  if exists (
    select
    from trading.voids as v
    where v.market_id = void_market.market_id
      and v.trade_id is null
  ) then
    perform core.raise_error('INVALID_STATE', 'The market is voided already');
  elsif exists (
    select
    from trading.set_conversions as c
    where c.market_id = void_market.market_id
      and c.side is not null
  ) then
    perform core.raise_error(
      'INVALID_STATE',
      'Shares of the event were converted: its markets can be resolved, and not voided'
    );
  end if;

  -- 1. What belongs to the market, while its users are not locked yet.
  if not v_is_resolved then
    perform trading.change_market_status(void_market.market_id, 'closed');
    perform trading.announce_market_status(void_market.market_id, 'resolved');
  end if;
  update catalog.markets as m set
    status = 'resolved',
    open_time = null,
    resolved_outcome = 'custom',
    yes_payout_cents = 50,
    resolved_at = coalesce(m.resolved_at, v_at)
  where m.id = void_market.market_id;

  insert into trading.voided_positions (
    void_id, market_id, user_id, side, quantity, cost_cents, fee_cents, realised_cents
  )
  select
    v_void_id, p.market_id, p.user_id, p.side, p.quantity, p.cost_cents, p.fee_cents,
    p.realised_cents
  from trading.positions as p
  where p.market_id = void_market.market_id
    and (p.quantity > 0 or p.realised_cents <> 0);
  update trading.holdings as h set
    yes_quantity = 0,
    yes_cost_cents = 0,
    yes_fee_cents = 0,
    yes_realised_cents = 0,
    no_quantity = 0,
    no_cost_cents = 0,
    no_fee_cents = 0,
    no_realised_cents = 0
  where h.market_id = void_market.market_id;

  -- 2. Cash: computed, then locked in the order of the users, then moved. What a position realised,
  -- less what its shares cost if they are not settled, came out of the market beyond what went in.
  select
    array_agg(l.user_id),
    array_agg(ledger.user_account_id(l.user_id)),
    array_agg(l.amount_cents),
    sum(l.amount_cents)::bigint,
    (sum(l.amount_cents) filter (where l.amount_cents > 0))::bigint
  into v_user_ids, v_account_ids, v_amounts_cents, v_outside_cents, v_moved_cents
  from (
    select t.user_id, d.amount_cents
    from (
      select
        p.user_id,
        sum(
          case when v_is_resolved then 0 else p.cost_cents + p.fee_cents end - p.realised_cents
        )::bigint as amount_cents
      from trading.voided_positions as p
      where p.void_id = v_void_id
      group by p.user_id
    ) as d
    join trading.traders as t on t.user_id = d.user_id
    where d.amount_cents <> 0
    order by t.user_id
    for no key update of t
  ) as l;
  select s.escrow_cents, s.revenue_cents into strict v_escrow_cents, v_revenue_cents
  from trading.market_state as s
  where s.market_id = void_market.market_id;
  -- What escrow and fee revenue do not have was paid out.
  v_outside_cents := coalesce(v_outside_cents, 0) - v_escrow_cents - v_revenue_cents;

  if v_user_ids is not null then
    select ledger.post_journal(
      'void', void_market.market_id, array_agg(l.account_id), array_agg(l.amount_cents), v_at
    )
    into v_journal_id
    from unnest(
      v_account_ids || array[
        ledger.escrow_account_id(void_market.market_id),
        ledger.revenue_account_id(void_market.market_id),
        ledger.outside_account_id()
      ],
      v_amounts_cents || array[-v_escrow_cents, -v_revenue_cents, -v_outside_cents]
    ) as l (account_id, amount_cents)
    where l.amount_cents <> 0;
  end if;
  insert into trading.voids (
    id, market_id, journal_id, fee_cents, outside_cents, reason, created_at
  )
  values (
    v_void_id, void_market.market_id, v_journal_id, v_revenue_cents + v_outside_cents,
    v_outside_cents, void_market.reason, v_at
  );

  return jsonb_build_object(
    'users', coalesce(cardinality(v_user_ids), 0),
    'movedCents', coalesce(v_moved_cents, 0),
    'feeCents', v_revenue_cents + v_outside_cents,
    'usersBelowZero', (
      select count(*)
      from trading.traders as t
      where t.user_id = any (v_user_ids)
        and t.balance_cents < 0
    )
  );
end
$$;

comment on function trading.void_market(bigint, text) is
  'Undoes a market, resolved or not: its orders end, each user gets back what went in beyond what '
  'came out, fees included, or pays back what came out beyond what went in, below zero if need be. '
  'All in one journal, linear in the users of the market. The market ends as resolved, custom at '
  '50, which pays nothing; returns the operator''s summary. Errors: INVALID_STATE (voided '
  'already), UNFIT_SESSION. Locks: the outside world, the row of its event, the market, its row, '
  'then the users whose cash moves.';
