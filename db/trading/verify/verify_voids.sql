create or replace function trading.verify_voids()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  voided_markets as (
    select v.id, v.market_id, v.journal_id, v.fee_cents
    from trading.voids as v
    where v.trade_id is null
  )
  select 'void is of a trade of its market', 'void ' || v.id,
    'trade ' || v.trade_id || ' of market ' || v.market_id,
    coalesce('market ' || t.market_id, 'none')
  from trading.voids as v
  left join trading.trades as t on t.id = v.trade_id
  where v.trade_id is not null
    and t.market_id is distinct from v.market_id

  union all
  select 'void of a trade takes back what its sales realised',
    'void ' || v.id || ' user ' || f.user_id,
    (-f.realised_cents)::text,
    (case when f.is_taker then v.taker_realised_cents else v.maker_realised_cents end)::text
  from trading.voids as v
  join trading.fill_sides() as f on f.trade_id = v.trade_id
  where f.realised_cents
    <> -case when f.is_taker then v.taker_realised_cents else v.maker_realised_cents end

  -- A market gives back those that its trades have not given back one by one.
  union all
  select 'void gives back the fees', 'void ' || v.id, x.fee_cents::text, v.fee_cents::text
  from trading.voids as v
  cross join lateral (
    select coalesce(sum(t.fee_cents), 0) as fee_cents
    from trading.trades as t
    where case
      when v.trade_id is not null then t.id = v.trade_id
      else t.market_id = v.market_id
        and not exists (select from trading.voids as o where o.trade_id = t.id)
    end
  ) as x
  where v.fee_cents <> x.fee_cents

  union all
  select 'voided market moved no cash',
    'market ' || j.market_id || ' account ' || e.account_id, '0', sum(e.amount_cents)::text
  from ledger.journals as j
  join ledger.entries as e on e.journal_id = j.id
  where j.market_id in (select v.market_id from voided_markets as v)
    and e.account_id % 4 in (0, 1)
  group by j.market_id, e.account_id
  having sum(e.amount_cents) <> 0

  union all
  select 'voided market holds no shares', 'market ' || h.market_id || ' user ' || h.user_id,
    'none',
    concat_ws(
      ' ', h.yes_quantity, h.yes_cost_cents, h.yes_fee_cents, h.yes_realised_cents,
      h.no_quantity, h.no_cost_cents, h.no_fee_cents, h.no_realised_cents
    )
  from trading.holdings as h
  where h.market_id in (select v.market_id from voided_markets as v)
    and (
      h.yes_quantity, h.yes_realised_cents, h.no_quantity, h.no_realised_cents
    ) <> (0, 0, 0, 0)

  union all
  select 'voided position is of its market', 'market ' || p.market_id || ' user ' || p.user_id,
    coalesce('void ' || v.id, 'none'), 'void ' || p.void_id
  from trading.voided_positions as p
  left join voided_markets as v on v.market_id = p.market_id
  where v.id is distinct from p.void_id

  union all
  select 'nothing happens in a market after its void', 'journal ' || j.id,
    'before journal ' || v.journal_id, j.kind::text
  from voided_markets as v
  join ledger.journals as j on j.market_id = v.market_id
  where j.id > v.journal_id
$$;

comment on function trading.verify_voids() is
  'The part of ledger.verify() about what operators undid: a void gives back all that its trade '
  'or market moved, and a voided market is as if it had never been. One row for each broken '
  'invariant.';
