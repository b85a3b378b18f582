create or replace function trading.verify_conversions()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  legs as (
    select
      c.*, m.event_id, c.yes_realised_cents is not null as is_given,
      row_number() over w as place, count(*) over w_all as leg_count,
      sum(c.cents) over w_all as all_cents
    from trading.set_conversions as c
    join catalog.markets as m on m.id = c.market_id
    where c.side is not null
    window
      w_all as (partition by c.journal_id, c.yes_realised_cents is null),
      w as (w_all order by c.market_id)
  ),
  conversions as (
    select
      l.journal_id,
      min(l.event_id) as event_id,
      count(distinct l.market_id) as market_count,
      count(distinct (l.event_id, l.user_id, l.kind, l.quantity, l.created_at)) as kind_count,
      count(*) as row_count,
      count(*) filter (where not l.is_given) as come_count,
      100 * min(l.quantity)::bigint * case min(l.kind)
        when 'redeem' then 1
        else count(*) filter (where l.is_given) - 1
      end as cash_cents,
      coalesce(sum(l.cents) filter (where l.is_given), 0) as given_cents,
      coalesce(sum(l.cents) filter (where not l.is_given), 0) as come_cents,
      coalesce(sum(l.yes_realised_cents + l.no_realised_cents), 0) as realised_cents
    from legs as l
    group by l.journal_id
  )
  select 'conversion moves each market of its exclusive event once', 'journal ' || c.journal_id,
    coalesce(x.market_count, 0) || ' markets', c.row_count || ' rows'
  from conversions as c
  left join lateral (
    select count(*) as market_count
    from catalog.events as e
    join catalog.markets as m on m.event_id = e.id
    where e.id = c.event_id
      and e.exclusive
  ) as x on true
  where (c.market_count, c.row_count, c.kind_count) <> (x.market_count, x.market_count, 1)

  -- Shares that came have cost what the given ones had cost, less the cash; nothing, if there is
  -- more cash than that. Only then, or where no shares came, is something realised.
  union all
  select 'conversion makes no cent and loses none', 'journal ' || c.journal_id,
    c.cash_cents || ' and ' || c.come_cents, c.given_cents || ' realise ' || c.realised_cents
  from conversions as c
  where c.given_cents <> c.cash_cents + c.come_cents
    or c.come_count > 0 and (c.realised_cents < 0 or c.come_cents > 0 and c.realised_cents <> 0)

  union all
  select 'shares of a conversion bring or cost the same in each market',
    'journal ' || l.journal_id || ' market ' || l.market_id, x.cents::text, l.cents::text
  from legs as l
  cross join lateral (
    select
      div(l.all_cents * l.place, l.leg_count)
        - div(l.all_cents * (l.place - 1), l.leg_count) as cents
  ) as x
  where l.cents <> x.cents

  union all
  select 'conversion realises nothing on shares that it does not move', 'conversion ' || l.id,
    '0', concat_ws(' ', l.yes_realised_cents, l.no_realised_cents)
  from legs as l
  where case l.side when 'yes' then l.no_realised_cents else l.yes_realised_cents end <> 0

  -- YES shares of all markets are worth 100 cents together. Whatever is resolved, this and the
  -- escrow of the markets, 100 cents for each NO share, is what all shares are paid.
  union all
  select 'escrow of an event is what its conversions leave to pay', 'event ' || e.public_id,
    x.cents::text, e.escrow_cents::text
  from catalog.events as e
  left join (
    select
      m.event_id,
      max(c.more_yes_quantity)
        * (100 - coalesce(sum(m.yes_payout_cents) filter (where m.status = 'resolved'), 0)) as cents
    from catalog.markets as m
    left join trading.event_conversions() as c on c.market_id = m.id
    where m.event_id is not null
    group by m.event_id
  ) as p on p.event_id = e.id
  cross join lateral (
    select coalesce(p.cents, 0) as cents
  ) as x
  where e.escrow_cents <> x.cents

  union all
  select 'nothing is converted in an event once a market is resolved', 'journal ' || c.journal_id,
    'before journal ' || j.id, c.kind::text
  from legs as c
  join ledger.posted_journals as j on j.market_id = c.market_id
  where j.id < c.journal_id
    and (
      j.kind = 'settlement'
      or exists (
        select
        from trading.voids as v
        where v.market_id = c.market_id
          and v.journal_id = j.id
          and v.trade_id is null
      )
    )
$$;

comment on function trading.verify_conversions() is
  'The part of ledger.verify() about conversions and redeems in exclusive events: each moves all '
  'markets of its event, keeps the cost of the shares to the cent, and the escrow of the event and '
  'of its markets pays every way in which they can be resolved. One row for each broken invariant.';
