create or replace function trading.results_between(
  user_id bigint, since timestamptz, until timestamptz
)
returns table (market_id bigint, fee_cents bigint, realised_cents bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
declare
  -- The ids of what was traded and voided in the time are between these. Compared as rows, so
  -- that any plan looks for the user's trades between them, and for no others.
  v_after_trade_id constant bigint := ledger.trade_before(results_between.since);
  v_before_trade_id constant bigint := ledger.trade_after(results_between.until);
  v_after_void_id constant bigint := coalesce(
    (
      select v.id
      from trading.voids as v
      where v.created_at < results_between.since - interval '10 minutes'
      order by v.id desc
      limit 1
    ),
    0
  );
  v_voided_market_ids constant bigint[] := array(
    select h.market_id
    from trading.voids as v
    join trading.holdings as h
      on h.market_id = v.market_id
      and h.user_id = results_between.user_id
    where v.trade_id is null
      and v.id > v_after_void_id
      and v.created_at >= results_between.since
      and v.created_at < results_between.until
  );
begin
  return query
  select r.market_id, sum(r.fee_cents)::bigint, sum(r.realised_cents)::bigint
  from (
    select t.market_id, t.fee_cents::bigint as fee_cents,
      coalesce(t.taker_realised_cents, 0) as realised_cents
    from trading.trades as t
    where (t.taker_user_id, t.id) > (results_between.user_id, v_after_trade_id)
      and (t.taker_user_id, t.id) < (results_between.user_id, v_before_trade_id)
      and t.created_at >= results_between.since
      and t.created_at < results_between.until
    union all
    select t.market_id, 0, coalesce(t.maker_realised_cents, 0)
    from trading.trades as t
    where (t.maker_user_id, t.id) > (results_between.user_id, v_after_trade_id)
      and (t.maker_user_id, t.id) < (results_between.user_id, v_before_trade_id)
      and t.created_at >= results_between.since
      and t.created_at < results_between.until
    union all
    select c.market_id, 0, c.yes_realised_cents + c.no_realised_cents
    from trading.set_conversions as c
    where c.user_id = results_between.user_id
      and c.yes_realised_cents is not null
      and c.created_at >= results_between.since
      and c.created_at < results_between.until
    union all
    -- A correction has the whole figures, so those that it corrects are taken back.
    select s.market_id, 0, x.sign * s.realised_cents
    from trading.settlements as s
    cross join lateral (
      select 1 as sign, r.created_at
      from trading.resolutions as r
      where r.id = s.resolution_id
      union all
      select -1, r.created_at
      from trading.resolutions as r
      where r.market_id = s.market_id
        and r.corrects_resolution_id = s.resolution_id
    ) as x
    where s.user_id = results_between.user_id
      and x.created_at >= results_between.since
      and x.created_at < results_between.until
    union all
    select v.market_id,
      case t.taker_user_id when results_between.user_id then - v.fee_cents else 0 end,
      case t.taker_user_id when results_between.user_id then v.taker_realised_cents
        else v.maker_realised_cents end
    from trading.voids as v
    -- Few trades are voided. Each is looked up, and not every trade looked at.
    cross join lateral (
      select x.taker_user_id, x.maker_user_id
      from trading.trades as x
      where x.id = v.trade_id
      limit 1
    ) as t
    where results_between.user_id in (t.taker_user_id, t.maker_user_id)
      and v.id > v_after_void_id
      and v.created_at >= results_between.since
      and v.created_at < results_between.until
    union all
    -- A voided market gives back the fees of all its trades that were not voided before.
    select t.market_id, - t.fee_cents, 0
    from trading.trades as t
    where cardinality(v_voided_market_ids) > 0
      and t.taker_user_id = results_between.user_id
      and t.market_id = any (v_voided_market_ids)
      and not exists (select from trading.voids as v where v.trade_id = t.id)
    union all
    select p.market_id, 0, - p.realised_cents
    from trading.voided_positions as p
    join trading.voids as v on v.id = p.void_id
    where p.user_id = results_between.user_id
      and (p.user_id, p.void_id) > (results_between.user_id, v_after_void_id)
      and v.created_at >= results_between.since
      and v.created_at < results_between.until
  ) as r
  group by r.market_id;
end
$$;

comment on function trading.results_between(bigint, timestamptz, timestamptz) is
  'What each market brought a user from a moment on and before another one: the fees of trades, '
  'less those that voids gave back, and what was realised. Results count as in '
  'analytics.daily_trader_results: a correction or void at its own time. Cost: the user''s trades '
  'of that time and of markets voided then, their settlements, and the voids since.';
