-- One statement, so that all of it is of one moment:
--
--   new_*: the next trades, conversions and resolutions that were not taken yet, and voids of which
--     all that they undo was taken before
--   realised: what they realised, one row for each position that they moved
--   changes: the same by day, category and user, which is what comes out
--   touched, moved, kept: how far each market is taken, which is written
--   interest: the open interest, which is written
--   ends: how far to read on, where more was there than may be taken
create or replace function leaderboard.take_facts(
  state leaderboard.state,
  most int,
  out changes leaderboard.change[],
  out resolution_ids bigint[],
  out voided_market_ids bigint[],
  out through_trade_id bigint,
  out through_conversion_id bigint,
  out through_resolution_id bigint,
  out is_current boolean
)
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with
  new_trades as materialized (
    select
      t.id, t.market_id, t.created_at,
      t.taker_user_id, t.taker_realised_cents, t.maker_user_id, t.maker_realised_cents
    from trading.trades as t
    left join leaderboard.markets as k on k.market_id = t.market_id
    where t.id > (take_facts.state).after_trade_id
      and t.id > coalesce(k.last_trade_id, 0)
    order by t.id
    limit take_facts.most
  ),
  new_conversions as materialized (
    select
      c.id, c.market_id, c.created_at, c.user_id,
      c.yes_realised_cents + c.no_realised_cents as cents
    from trading.set_conversions as c
    left join leaderboard.markets as k on k.market_id = c.market_id
    where c.id > (take_facts.state).after_conversion_id
      and c.id > coalesce(k.last_conversion_id, 0)
    order by c.id
    limit take_facts.most
  ),
  waiting_resolutions as materialized (
    select
      r.id, r.market_id, r.corrects_resolution_id,
      sum(r.position_count) over (order by r.id) - r.position_count as positions_before
    from trading.resolutions as r
    left join leaderboard.markets as k on k.market_id = r.market_id
    where r.id > (take_facts.state).after_resolution_id
      and r.id > coalesce(k.last_resolution_id, 0)
  ),
  new_resolutions as materialized (
    select w.id, w.market_id, w.corrects_resolution_id
    from waiting_resolutions as w
    where w.positions_before < take_facts.most
  ),
  waiting_voids as materialized (
    select
      v.id, v.market_id, v.trade_id, v.created_at, v.taker_realised_cents, v.maker_realised_cents,
      not exists (
        select
        from trading.trades as t
        where t.market_id = v.market_id
          and t.id > coalesce(k.last_trade_id, 0)
          and (v.trade_id is null or t.id < v.journal_id)
      )
      and (
        v.trade_id is not null
        or not exists (
          select
          from trading.set_conversions as c
          where c.market_id = v.market_id
            and c.id > coalesce(k.last_conversion_id, 0)
        )
        and not exists (
          select
          from trading.resolutions as r
          where r.market_id = v.market_id
            and r.id > coalesce(k.last_resolution_id, 0)
        )
      ) as is_next
    from trading.voids as v
    left join leaderboard.markets as k on k.market_id = v.market_id
    where v.id > coalesce(k.last_void_id, 0)
  ),
  new_voids as materialized (
    select w.* from waiting_voids as w where w.is_next
  ),
  -- What a seller realised by a trade is taken back on its day; a buyer gives the shares back on
  -- the day of the void.
  void_results as materialized (
    select v.id, v.market_id, x.user_id, x.at, x.pl_cents, x.realised_count
    from trading.voids as v
    join trading.trades as t on t.id = v.trade_id
    cross join lateral (
      values
        (t.taker_user_id, t.taker_realised_cents is null, v.taker_realised_cents),
        (t.maker_user_id, t.maker_realised_cents is null, v.maker_realised_cents)
    ) as y (user_id, has_bought, pl_cents)
    cross join lateral (
      select
        y.user_id, y.pl_cents,
        case when y.has_bought then v.created_at else t.created_at end as at,
        case when y.has_bought then 1 else -1 end as realised_count
    ) as x
    where v.market_id in (select n.market_id from new_voids as n)
  ),
  realised as (
    select
      t.market_id, t.taker_user_id as user_id, t.created_at as at,
      t.taker_realised_cents as pl_cents,
      0 as vol_cents, 0 as win_count, 0 as settled_count, 1 as realised_count
    from new_trades as t
    where t.taker_realised_cents is not null
    union all
    select t.market_id, t.maker_user_id, t.created_at, t.maker_realised_cents, 0, 0, 0, 1
    from new_trades as t
    where t.maker_realised_cents is not null
    union all
    select c.market_id, c.user_id, c.created_at, c.cents, 0, 0, 0, 1
    from new_conversions as c
    where c.cents is not null
    union all
    -- A correction has the whole figures, so those that it corrects are taken back.
    select
      r.market_id, s.user_id, f.created_at, x.sign * s.realised_cents,
      x.sign * s.cost_cents, x.sign * (s.realised_cents > 0)::int, x.sign, x.sign
    from new_resolutions as r
    cross join lateral (
      values (r.id, 1), (r.corrects_resolution_id, -1)
    ) as x (resolution_id, sign)
    join trading.settlements as s on s.resolution_id = x.resolution_id
    join trading.resolutions as f
      on f.market_id = r.market_id and f.corrects_resolution_id is null
    union all
    select x.market_id, x.user_id, x.at, x.pl_cents, 0, 0, 0, x.realised_count
    from new_voids as v
    join void_results as x on x.id = v.id
    -- All that was realised in a voided market is taken back.
    union all
    select v.market_id, x.user_id, t.created_at, -x.realised_cents, 0, 0, 0, -1
    from new_voids as v
    join trading.trades as t on t.market_id = v.market_id
    cross join lateral (
      values
        (t.taker_user_id, t.taker_realised_cents), (t.maker_user_id, t.maker_realised_cents)
    ) as x (user_id, realised_cents)
    where v.trade_id is null
      and x.realised_cents is not null
    union all
    select
      v.market_id, c.user_id, c.created_at, -(c.yes_realised_cents + c.no_realised_cents),
      0, 0, 0, -1
    from new_voids as v
    join trading.set_conversions as c on c.market_id = v.market_id
    where v.trade_id is null
      and c.yes_realised_cents is not null
    union all
    select
      v.market_id, s.user_id, f.created_at, -s.realised_cents,
      -s.cost_cents, -(s.realised_cents > 0)::int, -1, -1
    from new_voids as v
    join trading.resolutions as f
      on f.market_id = v.market_id and f.corrects_resolution_id is null
    join trading.settlements as s
      on s.resolution_id = (
        select max(r.id) from trading.resolutions as r where r.market_id = v.market_id
      )
    where v.trade_id is null
    union all
    select v.market_id, x.user_id, x.at, -x.pl_cents, 0, 0, 0, -x.realised_count
    from new_voids as v
    join void_results as x on x.market_id = v.market_id
    where v.trade_id is null
  ),
  changes as (
    select
      (r.at at time zone 'UTC')::date as day,
      c.category_id,
      r.user_id,
      sum(r.pl_cents)::bigint as pl_cents,
      sum(r.vol_cents)::bigint as vol_cents,
      sum(r.win_count) as win_count,
      sum(r.settled_count) as settled_count,
      sum(r.realised_count) as realised_count
    from realised as r
    join catalog.markets as m on m.id = r.market_id
    cross join lateral (values (0::bigint), (m.category_id)) as c (category_id)
    group by 1, 2, 3
  ),
  touched as (
    select
      n.market_id,
      max(n.trade_id) as trade_id,
      max(n.conversion_id) as conversion_id,
      max(n.resolution_id) as resolution_id,
      max(n.void_id) as void_id
    from (
      select
        t.market_id, t.id as trade_id, 0 as conversion_id, 0 as resolution_id, 0 as void_id
      from new_trades as t
      union all
      select c.market_id, 0, c.id, 0, 0
      from new_conversions as c
      union all
      select r.market_id, 0, 0, r.id, 0
      from new_resolutions as r
      union all
      select v.market_id, 0, 0, 0, v.id
      from new_voids as v
    ) as n
    group by n.market_id
  ),
  moved as materialized (
    select
      t.market_id,
      m.category_id,
      greatest(t.trade_id, k.last_trade_id) as last_trade_id,
      greatest(t.conversion_id, k.last_conversion_id) as last_conversion_id,
      greatest(t.resolution_id, k.last_resolution_id) as last_resolution_id,
      greatest(t.void_id, k.last_void_id) as last_void_id,
      b.escrow_cents::bigint as escrow_cents,
      b.escrow_cents - coalesce(k.escrow_cents, 0) as more_cents
    from touched as t
    join catalog.markets as m on m.id = t.market_id
    join trading.market_state as b on b.market_id = t.market_id
    left join leaderboard.markets as k on k.market_id = t.market_id
  ),
  kept as (
    insert into leaderboard.markets (
      market_id, last_trade_id, last_conversion_id, last_resolution_id, escrow_cents, last_void_id
    )
    select
      v.market_id, v.last_trade_id, v.last_conversion_id, v.last_resolution_id, v.escrow_cents,
      v.last_void_id
    from moved as v
    on conflict (market_id) do update set
      last_trade_id = excluded.last_trade_id,
      last_conversion_id = excluded.last_conversion_id,
      last_resolution_id = excluded.last_resolution_id,
      escrow_cents = excluded.escrow_cents,
      last_void_id = excluded.last_void_id
  ),
  interest as (
    insert into leaderboard.open_interest (category_id, open_interest_cents)
    select x.category_id, x.more_cents + coalesce(o.open_interest_cents, 0)
    from (
      select c.category_id, sum(v.more_cents) as more_cents
      from moved as v
      cross join lateral (values (0::bigint), (v.category_id)) as c (category_id)
      group by c.category_id
      having sum(v.more_cents) <> 0
    ) as x
    left join leaderboard.open_interest as o on o.category_id = x.category_id
    on conflict (category_id) do update set open_interest_cents = excluded.open_interest_cents
  ),
  ends as (
    select
      case when t.count = take_facts.most then t.last_id end as trade_id,
      case when c.count = take_facts.most then c.last_id end as conversion_id,
      case when r.count < w.count then r.last_id end as resolution_id
    from (select count(*), max(n.id) as last_id from new_trades as n) as t
    cross join (select count(*), max(n.id) as last_id from new_conversions as n) as c
    cross join (select count(*), max(n.id) as last_id from new_resolutions as n) as r
    cross join (select count(*) from waiting_resolutions as n) as w
  )
  select
    array(
      select (
        c.day, c.category_id, c.user_id, c.pl_cents, c.vol_cents, c.win_count, c.settled_count,
        c.realised_count
      )::leaderboard.change
      from changes as c
    ),
    array(select r.id from new_resolutions as r),
    array(select v.market_id from new_voids as v where v.trade_id is null),
    e.trade_id, e.conversion_id, e.resolution_id,
    num_nulls(e.trade_id, e.conversion_id, e.resolution_id) = 3
      and (select coalesce(bool_and(w.is_next), true) from waiting_voids as w)
  from ends as e
$$;

comment on function leaderboard.take_facts(leaderboard.state, int) is
  'Takes trades, conversions and resolutions that the leaderboard does not have yet, about so '
  'many of each at most, and voids of what it has, and notes in leaderboard.markets and '
  'leaderboard.open_interest that it has them. Returns the changes that follow, the resolutions '
  'taken, the markets voided and, for each kind that was cut off at that number, the last id '
  'taken (through_): every visible id up to it was taken. is_current: nothing was left of any '
  'kind. One statement, hence one moment of all markets. The caller holds the row of '
  'leaderboard.state.';
