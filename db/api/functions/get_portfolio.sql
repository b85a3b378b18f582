create or replace function api.get_portfolio(user_id uuid)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
declare
  c_most_orders constant int := 200;
  v_at timestamptz := core.now();
  v_user_id bigint;
  v_balance_cents bigint;
  v_order_ids bigint[];
begin
  select t.user_id, t.balance_cents into v_user_id, v_balance_cents
  from trading.traders as t
  where t.public_id = get_portfolio.user_id;

  v_order_ids := array(
    select b.order_id
    from trading.active_orders as b
    where b.user_id = v_user_id
      and (b.expires_at is null or b.expires_at > v_at)
    order by b.order_id desc
    limit c_most_orders
  );

  return json_build_object(
    'balance', v_balance_cents,
    'positions', (
      select coalesce(
        json_agg(
          trading.position_object(p, m, b.last_trade_price)
          order by m.close_time nulls last, m.id, p.side
        ),
        '[]'
      )
      from trading.positions as p
      join catalog.markets as m on m.id = p.market_id
      join trading.market_state as b on b.market_id = m.id
      where p.user_id = v_user_id
        and p.quantity > 0
    ),
    'openOrders', (
      select coalesce(json_agg(trading.open_order_object(o) order by o.id desc), '[]')
      from trading.orders as o
      where o.id = any (v_order_ids)
    )
  );
end
$$;

comment on function api.get_portfolio(uuid) is
  'The body of GET /me/portfolio: cash, positions with shares by the close time of their market, '
  'open orders not past their expiry, newest first, at most 200.';
