create or replace function ledger.verify_journals()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  -- Everything that has a posted journal.
  happenings as (
    select c.journal_id, c.kind::text::ledger.journal_kind as kind, c.market_id, c.created_at
    from trading.set_conversions as c
    where c.side is null
    union all
    select distinct c.journal_id, c.kind::text::ledger.journal_kind, null::bigint, c.created_at
    from trading.set_conversions as c
    where c.side is not null
    union all
    select r.journal_id,
      case when r.corrects_resolution_id is null then 'settlement' else 'correction' end
        ::ledger.journal_kind,
      r.market_id, r.created_at
    from trading.resolutions as r
    where r.journal_id is not null
    union all
    select v.journal_id, 'void', v.market_id, v.created_at
    from trading.voids as v
    where v.journal_id is not null
    union all
    select m.journal_id, m.kind, null, null
    from ledger.cash_movements as m
    union all
    select p.journal_id, 'fee_payout', null, null
    from ledger.fee_payouts as p
    -- A trade is its own journal: it must have its id alone.
    union all
    select t.id, 'trade', t.market_id, t.created_at
    from trading.trades as t
    join ledger.posted_journals as j on j.id = t.id
  ),
  -- The lines that the posted journals must have, by what happened.
  user_lines as materialized (
    select l.* from trading.user_lines() as l
  ),
  -- Of a trade what it moved; of a market what each user put in beyond what came out. The shares
  -- of a resolved market were paid: what they cost is in their result.
  void_lines as (
    select v.id, f.user_id, -f.amount_cents as amount_cents
    from trading.voids as v
    join trading.fill_sides() as f on f.trade_id = v.trade_id
    union all
    select v.id, p.user_id,
      sum(
        case when r.id is null then p.cost_cents + p.fee_cents else 0 end - p.realised_cents
      )
    from trading.voids as v
    join trading.voided_positions as p on p.void_id = v.id
    left join trading.resolutions as r
      on r.market_id = v.market_id and r.corrects_resolution_id is null
    group by v.id, p.user_id
  ),
  lines as (
    select u.journal_id, ledger.user_account_id(u.user_id) as account_id, u.amount_cents
    from user_lines as u
    where u.amount_cents <> 0
    union all
    select u.journal_id, ledger.escrow_account_id(u.market_id), sum(u.escrow_cents)
    from user_lines as u
    group by u.journal_id, u.market_id
    having sum(u.escrow_cents) <> 0
    -- What users and escrow leave is of the event.
    union all
    select u.journal_id, ledger.event_account_id(m.event_id), -sum(u.amount_cents + u.escrow_cents)
    from user_lines as u
    join catalog.markets as m on m.id = u.market_id
    group by u.journal_id, m.event_id
    having sum(u.amount_cents + u.escrow_cents) <> 0
    union all
    select v.journal_id, ledger.user_account_id(u.user_id), u.amount_cents
    from trading.voids as v
    join void_lines as u on u.id = v.id
    where u.amount_cents <> 0
    union all
    select v.journal_id, l.account_id, l.amount_cents
    from trading.voids as v
    left join (
      select x.id, sum(x.amount_cents) as user_cents from void_lines as x group by x.id
    ) as u on u.id = v.id
    cross join lateral (
      values
        (ledger.escrow_account_id(v.market_id), v.fee_cents - coalesce(u.user_cents, 0)),
        (ledger.revenue_account_id(v.market_id), v.outside_cents::bigint - v.fee_cents),
        (ledger.outside_account_id(), -v.outside_cents::bigint)
    ) as l (account_id, amount_cents)
    where l.amount_cents <> 0
    union all
    select m.journal_id, l.account_id, l.amount_cents
    from ledger.cash_movements as m
    cross join lateral (
      select
        case when m.kind in ('withdrawal', 'reversal') then -m.amount_cents else m.amount_cents end
          as user_cents
    ) as x
    cross join lateral (
      values
        (ledger.user_account_id(m.user_id), x.user_cents),
        (ledger.outside_account_id(), -x.user_cents)
    ) as l (account_id, amount_cents)
    union all
    select p.journal_id, ledger.outside_account_id(), p.amount_cents
    from ledger.fee_payouts as p
    -- Of which markets the fees are, only the lines say: they take from fee revenue, and sum to
    -- zero with the line of the outside world.
    union all
    select p.journal_id, e.account_id, e.amount_cents
    from ledger.fee_payouts as p
    join ledger.posted_entries as e on e.journal_id = p.journal_id
    where e.account_id % 4 = 2
      and e.amount_cents < 0
  )
  select 'journal is of one thing that happened',
    'journal ' || coalesce(j.id, h.journal_id),
    coalesce(h.kind || coalesce(' in market ' || h.market_id, ''), 'nothing'),
    coalesce(j.kind || coalesce(' in market ' || j.market_id, ''), 'nothing')
  from ledger.posted_journals as j
  full join (
    select x.journal_id, min(x.kind) as kind, min(x.market_id) as market_id, count(*) as times
    from happenings as x
    group by x.journal_id
  ) as h on h.journal_id = j.id
  where (h.kind, h.market_id, h.times) is distinct from (j.kind, j.market_id, 1::bigint)

  union all
  select 'journal has the time of what happened', 'journal ' || j.id,
    h.created_at::text, j.created_at::text
  from ledger.posted_journals as j
  join happenings as h on h.journal_id = j.id
  where h.created_at <> j.created_at

  union all
  select 'journal has the lines of what happened',
    'journal ' || coalesce(l.journal_id, e.journal_id)
      || ' account ' || coalesce(l.account_id, e.account_id),
    coalesce(l.amount_cents, 0)::text, coalesce(e.amount_cents, 0)::text
  from lines as l
  full join ledger.posted_entries as e
    on e.journal_id = l.journal_id and e.account_id = l.account_id
  where e.amount_cents is distinct from l.amount_cents

  union all
  select 'reversal is of a deposit', 'journal ' || m.journal_id,
    'a deposit of ' || m.amount_cents || ' as ' || m.reference, 'none'
  from ledger.cash_movements as m
  where m.kind = 'reversal'
    and not exists (
      select
      from ledger.cash_movements as d
      where d.kind = 'deposit'
        and d.user_id = m.user_id
        and d.reference = m.reference
        and d.amount_cents = m.amount_cents
        and d.journal_id < m.journal_id
    )

  -- Who buys and who sells is taken from the orders. Escrow gets what the lines of taker, maker and
  -- fee revenue leave, so it is right when they are.
  union all
  select 'trade moves the cash of its orders', 'trade ' || f.trade_id || ' order ' || f.order_id,
    x.amount_cents::text, f.amount_cents::text
  from trading.fill_sides() as f
  join trading.orders as o on o.id = f.order_id
  cross join lateral (
    select
      case o.order_type when 'buy' then -1 else 1 end
        * f.quantity * case o.side when 'yes' then f.price else 100 - f.price end
        - f.fee_cents as amount_cents
  ) as x
  where f.amount_cents <> x.amount_cents
$$;

comment on function ledger.verify_journals() is
  'The part of ledger.verify() about why cash moved: each posted journal is of one conversion, '
  'resolution, void, movement of a user''s cash or fee payout and has exactly the lines that '
  'follow from it; each trade moves what its two orders say. One row for each broken invariant.';
