-- A plan for each call: what has happened since may be much or little.
create or replace function trading.exit_values_at(
  at timestamptz,
  market_ids bigint[],
  yes_bids int[],
  no_bids int[],
  after_user_id bigint,
  last_user_id bigint
)
returns table (user_id bigint, exit_cents bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_trade_id constant bigint := ledger.trade_before(exit_values_at.at);
begin
  return query
  with
  markets as (
    select m.market_id, m.yes_bid, m.no_bid
    from unnest(
      exit_values_at.market_ids, exit_values_at.yes_bids, exit_values_at.no_bids
    ) as m (market_id, yes_bid, no_bid)
  ),
  users as (
    select t.user_id
    from trading.traders as t
    where t.user_id > exit_values_at.after_user_id
      and t.user_id <= exit_values_at.last_user_id
  ),
  -- The fills since, and those voided since: these count the other way.
  fills as (
    select
      t.market_id, t.taker_user_id as user_id, t.taker_side = 'yes' as is_yes,
      t.taker_realised_cents is null as buys, t.quantity::bigint as quantity
    from users as u
    join trading.trades as t on t.taker_user_id = u.user_id
    where t.id > v_trade_id
      and t.created_at >= exit_values_at.at
    union all
    select
      t.market_id, t.maker_user_id, t.taker_side <> 'yes', t.maker_realised_cents is null,
      t.quantity::bigint
    from users as u
    join trading.trades as t on t.maker_user_id = u.user_id
    where t.id > v_trade_id
      and t.created_at >= exit_values_at.at
    union all
    select v.market_id, f.user_id, f.is_yes, f.buys, -t.quantity::bigint
    from markets as m
    join trading.voids as v on v.market_id = m.market_id
    join trading.trades as t on t.id = v.trade_id
    cross join lateral (
      values
        (t.taker_user_id, t.taker_side = 'yes', t.taker_realised_cents is null),
        (t.maker_user_id, t.taker_side <> 'yes', t.maker_realised_cents is null)
    ) as f (user_id, is_yes, buys)
    where v.created_at >= exit_values_at.at
      and f.user_id > exit_values_at.after_user_id
      and f.user_id <= exit_values_at.last_user_id
  ),
  -- What is held now, with the shares that resolved markets had, less what came since.
  parts as (
    select h.user_id, h.yes_quantity * m.yes_bid + h.no_quantity * m.no_bid as cents
    from markets as m
    join trading.holdings as h on h.market_id = m.market_id
    where h.user_id > exit_values_at.after_user_id
      and h.user_id <= exit_values_at.last_user_id
    union all
    select p.user_id, p.quantity * case p.side when 'yes' then m.yes_bid else m.no_bid end
    from markets as m
    join trading.voids as v on v.market_id = m.market_id and v.trade_id is null
    join trading.voided_positions as p on p.void_id = v.id
    where p.user_id > exit_values_at.after_user_id
      and p.user_id <= exit_values_at.last_user_id
    union all
    -- A seller of YES stands on the side of NO, and gives YES.
    select
      f.user_id,
      f.quantity * case
        when f.buys then - case when f.is_yes then m.yes_bid else m.no_bid end
        else case when f.is_yes then m.no_bid else m.yes_bid end
      end
    from fills as f
    join markets as m on m.market_id = f.market_id
    union all
    select
      c.user_id,
      case when c.yes_realised_cents is null then -1 else 1 end * c.quantity::bigint
        * case c.side
          when 'yes' then m.yes_bid
          when 'no' then m.no_bid
          else m.yes_bid + m.no_bid
        end
    from users as u
    join trading.set_conversions as c on c.user_id = u.user_id
    join markets as m on m.market_id = c.market_id
    where c.created_at >= exit_values_at.at
  )
  select p.user_id, sum(p.cents)::bigint
  from parts as p
  group by p.user_id
  having sum(p.cents) > 0;
end
$$;

comment on function trading.exit_values_at(timestamptz, bigint[], int[], int[], bigint, bigint) is
  'What the shares of users after one id and up to another were worth at a moment, at these bids '
  'of markets that were not resolved then. Users with 0 are left out. All that was accepted before '
  'must have committed. Cost: the users, their holdings in these markets, and what changed them '
  'since.';
