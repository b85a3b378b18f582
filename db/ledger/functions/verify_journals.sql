create or replace function ledger.verify_journals()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  -- Everything that has a journal.
  happenings as (
    select t.journal_id, 'trade'::ledger.journal_kind as kind, t.market_id, t.created_at
    from trading.trades as t
    union all
    select c.journal_id, c.kind::text::ledger.journal_kind, c.market_id, c.created_at
    from trading.set_conversions as c
    union all
    select r.journal_id,
      case when r.corrects_resolution_id is null then 'settlement' else 'correction' end
        ::ledger.journal_kind,
      r.market_id, r.created_at
    from trading.resolutions as r
    where r.journal_id is not null
    union all
    select m.journal_id, m.kind, null, null
    from ledger.cash_movements as m
  ),
  -- The lines that the journals must have, by what happened. Who buys or sells what is taken from
  -- the orders.
  user_lines as (
    select f.journal_id, f.market_id, o.user_id,
      case o.order_type when 'buy' then -1 else 1 end
        * f.quantity * case o.side when 'yes' then f.price else 100 - f.price end
        - f.fee_cents as amount_cents
    from trading.fill_sides() as f
    join trading.orders as o on o.id = f.order_id
    union all
    select c.journal_id, c.market_id, c.user_id,
      case c.kind when 'split' then -100 else 100 end * c.quantity::bigint
    from trading.set_conversions as c
    union all
    select r.journal_id, r.market_id, s.user_id,
      sum(case when s.resolution_id = r.id then s.payout_cents else -s.payout_cents end)
    from trading.resolutions as r
    join trading.settlements as s on s.resolution_id in (r.id, r.corrects_resolution_id)
    group by r.id, s.user_id
  ),
  fee_lines as (
    select t.journal_id, t.market_id, t.fee_cents as amount_cents
    from trading.trades as t
    where t.fee_cents > 0
  ),
  lines as (
    select u.journal_id, a.id as account_id, u.amount_cents
    from user_lines as u
    join ledger.accounts as a on a.user_id = u.user_id
    where u.amount_cents <> 0
    union all
    select f.journal_id, a.id, f.amount_cents
    from fee_lines as f
    join ledger.accounts as a on a.market_id = f.market_id and a.kind = 'fee_revenue'
    union all
    select e.journal_id, a.id, e.amount_cents
    from (
      select l.journal_id, l.market_id, -sum(l.amount_cents) as amount_cents
      from (
        select u.journal_id, u.market_id, u.amount_cents from user_lines as u
        union all
        select f.journal_id, f.market_id, f.amount_cents from fee_lines as f
      ) as l
      group by l.journal_id, l.market_id
      having sum(l.amount_cents) <> 0
    ) as e
    join ledger.accounts as a on a.market_id = e.market_id and a.kind = 'market_escrow'
    union all
    select m.journal_id, l.account_id, l.amount_cents
    from ledger.cash_movements as m
    cross join (
      select a.id from ledger.accounts as a where a.kind = 'outside_world'
    ) as outside
    cross join lateral (
      values
        (m.account_id, case m.kind when 'deposit' then m.amount_cents else -m.amount_cents end),
        (outside.id, case m.kind when 'deposit' then -m.amount_cents else m.amount_cents end)
    ) as l (account_id, amount_cents)
  )
  select 'journal is of one thing that happened',
    'journal ' || coalesce(j.id, h.journal_id),
    coalesce(h.kind || coalesce(' in market ' || h.market_id, ''), 'nothing'),
    coalesce(j.kind || coalesce(' in market ' || j.market_id, ''), 'nothing')
  from ledger.journals as j
  full join (
    select x.journal_id, min(x.kind) as kind, min(x.market_id) as market_id, count(*) as times
    from happenings as x
    group by x.journal_id
  ) as h on h.journal_id = j.id
  where (h.kind, h.market_id, h.times) is distinct from (j.kind, j.market_id, 1::bigint)

  union all
  select 'journal has the time of what happened', 'journal ' || j.id,
    h.created_at::text, j.created_at::text
  from ledger.journals as j
  join happenings as h on h.journal_id = j.id
  where h.created_at <> j.created_at

  union all
  select 'journal has the lines of what happened',
    'journal ' || coalesce(l.journal_id, e.journal_id)
      || ' account ' || coalesce(l.account_id, e.account_id),
    coalesce(l.amount_cents, 0)::text, coalesce(e.amount_cents, 0)::text
  from lines as l
  full join ledger.entries as e
    on e.journal_id = l.journal_id and e.account_id = l.account_id
  where e.amount_cents is distinct from l.amount_cents
$$;

comment on function ledger.verify_journals() is
  'The part of ledger.verify() about why cash moved: each journal is of one trade, conversion, '
  'resolution, deposit or withdrawal, and has exactly the lines that follow from it. One row for '
  'each broken invariant.';
