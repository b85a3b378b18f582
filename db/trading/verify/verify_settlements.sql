create or replace function trading.verify_settlements()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  shares as (
    select
      h.market_id,
      sum(h.yes_quantity) as yes_quantity,
      sum(h.no_quantity) as no_quantity
    from trading.holdings as h
    group by h.market_id
  ),
  -- The resolutions with the one before in the same market, which each but the first corrects.
  resolutions as (
    select r.*,
      lag(r.id) over (partition by r.market_id order by r.id) as id_before,
      lead(r.id) over (partition by r.market_id order by r.id) is null as is_last,
      first_value(r.created_at) over (partition by r.market_id order by r.id) as first_at
    from trading.resolutions as r
  ),
  -- The positions of a voided market as they were before.
  positions as (
    select p.market_id, p.user_id, p.side, p.quantity, p.cost_cents, p.fee_cents
    from trading.positions as p
    where p.quantity > 0
    union all
    select v.market_id, v.user_id, v.side, v.quantity, v.cost_cents, v.fee_cents
    from trading.voided_positions as v
    where v.quantity > 0
  ),
  voids as (
    select v.market_id, v.created_at
    from trading.voids as v
    where v.trade_id is null
  )
  -- A conversion makes YES shares or takes NO shares, a redeem takes YES shares.
  select 'escrow is 100 x shares of each side', 'market ' || m.public_id,
    case when m.status = 'resolved' then '0' else x.yes_cents || ' = ' || x.no_cents end,
    b.escrow_cents::text
  from catalog.markets as m
  join trading.market_state as b on b.market_id = m.id
  left join shares as s on s.market_id = m.id
  left join trading.event_conversions() as c on c.market_id = m.id
  cross join lateral (
    select
      100 * (coalesce(s.yes_quantity, 0) - coalesce(c.more_yes_quantity, 0)) as yes_cents,
      100 * coalesce(s.no_quantity, 0) as no_cents
  ) as x
  where case
    when m.status = 'resolved' then b.escrow_cents <> 0
    else b.escrow_cents <> x.yes_cents or b.escrow_cents <> x.no_cents
  end

  union all
  select 'settlement repeats its position',
    'resolution ' || coalesce(e.resolution_id, r.id) || ' user ' || coalesce(e.user_id, p.user_id)
      || ' ' || coalesce(e.side, p.side),
    concat_ws(' ', p.market_id, p.quantity, p.cost_cents, p.fee_cents),
    concat_ws(' ', e.market_id, e.quantity, e.cost_cents, e.fee_cents)
  from resolutions as r
  join positions as p on p.market_id = r.market_id
  full join trading.settlements as e
    on e.resolution_id = r.id and e.user_id = p.user_id and e.side = p.side
  where (p.market_id, p.quantity, p.cost_cents, p.fee_cents)
    is distinct from (e.market_id, e.quantity, e.cost_cents, e.fee_cents)

  union all
  select 'settlement pays what the outcome says',
    'resolution ' || e.resolution_id || ' user ' || e.user_id || ' ' || e.side,
    e.quantity * case e.side when 'yes' then r.yes_payout_cents else 100 - r.yes_payout_cents end
      || '',
    e.payout_cents::text
  from trading.settlements as e
  join resolutions as r on r.id = e.resolution_id
  where e.payout_cents <> e.quantity
    * case e.side when 'yes' then r.yes_payout_cents else 100 - r.yes_payout_cents end

  union all
  select 'resolution equals its settlements', 'resolution ' || r.id,
    coalesce(e.positions, 0) || ' paid ' || coalesce(e.payout_cents, 0),
    r.position_count || ' paid ' || r.payout_cents
  from resolutions as r
  left join (
    select x.resolution_id, count(*) as positions, sum(x.payout_cents) as payout_cents
    from trading.settlements as x
    group by x.resolution_id
  ) as e on e.resolution_id = r.id
  where (r.position_count, r.payout_cents)
    <> (coalesce(e.positions, 0), coalesce(e.payout_cents, 0))

  union all
  select 'resolution corrects the one before', 'resolution ' || r.id,
    coalesce(r.id_before::text, 'none'), coalesce(r.corrects_resolution_id::text, 'none')
  from resolutions as r
  where r.corrects_resolution_id is distinct from r.id_before

  union all
  select 'market is resolved as its last resolution says', 'market ' || m.public_id,
    concat_ws(' ', coalesce(x.outcome::text, 'not'), x.yes_payout_cents, x.first_at),
    concat_ws(' ', coalesce(m.resolved_outcome::text, 'not'), m.yes_payout_cents, m.resolved_at)
  from catalog.markets as m
  left join resolutions as r on r.market_id = m.id and r.is_last
  left join voids as v on v.market_id = m.id
  cross join lateral (
    select
      case when v.market_id is null then r.outcome else 'custom' end as outcome,
      case when v.market_id is null then r.yes_payout_cents else 50 end as yes_payout_cents,
      coalesce(r.first_at, v.created_at) as first_at
  ) as x
  where (m.resolved_outcome, m.yes_payout_cents, m.resolved_at)
    is distinct from (x.outcome, x.yes_payout_cents, x.first_at)

  union all
  select 'YES shares of an exclusive event pay 100 in all', 'event ' || e.public_id,
    case when x.may_pay_less then 'at most 100' else '100' end, x.cents::text
  from catalog.events as e
  cross join lateral (
    select
      coalesce(sum(m.yes_payout_cents) filter (where v.market_id is null), 0) as cents,
      bool_or(m.status <> 'resolved' or v.market_id is not null) as may_pay_less
    from catalog.markets as m
    left join voids as v on v.market_id = m.id
    where m.event_id = e.id
  ) as x
  where e.exclusive
    and (x.cents > 100 or x.cents < 100 and not x.may_pay_less)

  -- Its shares are worth nothing, or 100 cents, for sure.
  union all
  select 'market that an exclusive event leaves nothing takes no orders', 'market ' || m.public_id,
    'closed', m.status || ' until ' || coalesce(m.close_time::text, 'it is closed')
  from trading.payouts_of_others as o
  join catalog.markets as m on m.id = o.market_id
  where o.yes_payout_cents = 100
    and m.status in ('open', 'paused')
    and (m.close_time is null or m.close_time > core.now())

  union all
  select 'nothing is traded or converted after the resolution', 'journal ' || j.id,
    'before journal ' || r.journal_id, j.kind::text
  from trading.resolutions as r
  join ledger.journals as j on j.market_id = r.market_id
  where j.id > r.journal_id
    and j.kind in ('trade', 'split', 'merge')
$$;

comment on function trading.verify_settlements() is
  'The part of ledger.verify() about escrow and settlements: each resolution settles all positions '
  'by its outcome, the last one holds, and an exclusive event pays 100 in all. One row '
  'for each broken invariant.';
