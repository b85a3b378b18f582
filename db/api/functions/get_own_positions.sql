create or replace function api.get_own_positions(user_id uuid, market_id uuid default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_listed constant int := 200;
  v_user_id bigint;
  v_balance_cents bigint;
  v_at constant timestamptz := core.now();
  v_answer json;
begin
  select t.user_id, t.balance_cents into v_user_id, v_balance_cents
  from trading.traders as t
  where t.public_id = get_own_positions.user_id;

  with own as materialized (
    select
      p.*, m.id as market_number, m.title, m.status, m.close_time, m.resolved_outcome,
      m.resolved_at, b.last_trade_price,
      get_own_positions.market_id is null or p.market_id = get_own_positions.market_id as is_listed
    from analytics.positions as p
    join catalog.markets as m on m.id = p.market_key
    join trading.market_state as b on b.market_id = m.id
    where p.user_key = v_user_id
  ),
  newest as (
    select o.*
    from own as o
    where o.is_listed
      and o.is_settled
      -- What came of shares that were sold or merged before is a part of the result, too.
      and (o.quantity > 0 or o.realised_cents <> 0)
    order by o.resolved_at desc, o.market_number desc, o.side desc
    limit c_most_listed
  ),
  closed as (
    select o.*
    from own as o
    where o.is_listed
      and not o.is_settled
      and o.quantity = 0
      and o.realised_cents <> 0
    order by o.market_number desc, o.side desc
    limit c_most_listed
  ),
  exits as materialized (
    select x.*
    from (
      select
        array_agg(o.market_number) as market_ids, array_agg(o.side::trading.side) as sides,
        array_agg(o.open_quantity) as shares
      from own as o
      where o.is_listed
        and o.open_quantity > 0
        and o.status = 'open'
        and (o.close_time is null or o.close_time > v_at)
    ) as p
    cross join lateral trading.exits_of_user(
      v_user_id, p.market_ids, p.sides, p.shares, v_at
    ) as x
  )
  select json_build_object(
    'balance', v_balance_cents,
    'worthCents', s.worth_cents,
    'accountValueCents', v_balance_cents + s.worth_cents,
    'unrealisedCents', s.unrealised_cents,
    'realisedCents', s.realised_cents,
    'positions', (
      select coalesce(
        json_agg(
          json_build_object(
            'id', o.position_id,
            'marketId', o.market_id,
            'marketTitle', o.title,
            'marketStatus', o.status,
            'side', o.side,
            'quantity', o.quantity,
            'costCents', o.cost_cents,
            'buyFeesCents', o.fee_cents,
            'lastPrice', case
              when o.side = 'yes' then o.last_trade_price
              else 100 - o.last_trade_price
            end,
            'worthCents', o.mark_value_cents,
            'unrealisedCents', o.unrealised_cents,
            'exitQuantity', x.quantity,
            'exitCents', x.cents,
            'realisedCents', o.realised_cents
          )
          order by o.close_time nulls last, o.market_number, o.side desc
        ),
        '[]'
      )
      from own as o
      left join exits as x on x.market_id = o.market_number and x.side = o.side::trading.side
      where o.is_listed
        and o.open_quantity > 0
    ),
    'settled', (
      select coalesce(
        json_agg(
          json_build_object(
            'id', n.position_id,
            'marketId', n.market_id,
            'marketTitle', n.title,
            'side', n.side,
            'quantity', n.quantity,
            'costCents', n.cost_cents,
            'buyFeesCents', n.fee_cents,
            'outcome', n.resolved_outcome,
            'payoutCents', n.quantity * n.mark_price_cents,
            'realisedCents', n.realised_cents,
            'settledAt', core.iso8601(n.resolved_at)
          )
          order by n.resolved_at desc, n.market_number desc, n.side desc
        ),
        '[]'
      )
      from newest as n
    ),
    'closed', (
      select coalesce(
        json_agg(
          json_build_object(
            'id', d.position_id,
            'marketId', d.market_id,
            'marketTitle', d.title,
            'marketStatus', d.status,
            'side', d.side,
            'realisedCents', d.realised_cents
          )
          order by d.market_number desc, d.side desc
        ),
        '[]'
      )
      from closed as d
    )
  )
  into v_answer
  from (
    select
      coalesce(sum(o.mark_value_cents), 0)::bigint as worth_cents,
      coalesce(sum(o.unrealised_cents), 0)::bigint as unrealised_cents,
      coalesce(sum(o.realised_cents), 0)::bigint as realised_cents
    from own as o
  ) as s;
  return v_answer;
end
$$;

comment on function api.get_own_positions(uuid, uuid) is
  'What the pages show of a user''s shares, by the figures of analytics.positions: cash, the '
  'sums over all positions, those that hold shares by the close time of their market, and the '
  '200 that were settled last, also those that were sold or merged before with a profit or a '
  'loss; closed: 200 of those in markets that are not resolved, of which all shares are gone with '
  'a profit or a loss, the newest market first. With a market, the lists have only its positions; '
  'the sums are those of all. exitCents: what selling a position at once would pay '
  '(trading.exits_of_user), null while its market takes no orders. realisedCents + '
  'unrealisedCents is the user''s result: accountValueCents less net deposits.';
