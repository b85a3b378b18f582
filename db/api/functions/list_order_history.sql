create or replace function api.list_order_history(
  user_id uuid, most int, cursor text default null, market_id uuid default null
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  -- Orders looked at, and fills shown, at most: a page may be short, and the next one goes on.
  c_window constant int := 5000;
  c_most_fills constant int := 5000;
  v_at timestamptz := core.now();
  v_before bigint := coalesce(list_order_history.cursor::bigint, 9223372036854775807);
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = list_order_history.user_id
  );
  v_market_id bigint;
  v_limit int := list_order_history.most + 1;
  v_seen bigint[];
  v_seen_markets bigint[];
  v_ids bigint[] := '{}';
  v_fills bigint;
  v_fill_count bigint := 0;
  v_next bigint;
begin
  if list_order_history.market_id is not null then
    v_market_id := coalesce((
      select m.id from catalog.markets as m where m.public_id = list_order_history.market_id
    ), 0);
    v_limit := c_window;
  end if;
  -- The user is given as a range: an equality would let the planner walk the primary key, past the
  -- orders of all others.
  select array_agg(x.id order by x.id desc), array_agg(x.market_id order by x.id desc)
  into v_seen, v_seen_markets
  from (
    select y.id, y.market_id
    from (
      (
        select o.id, o.market_id
        from trading.orders as o
        where (o.user_id, o.id) < (v_user_id, v_before)
          and o.user_id >= v_user_id
        order by o.user_id desc, o.id desc
        limit v_limit
      )
      union all
      (
        select a.id, a.market_id
        from trading.archived_orders as a
        where (a.user_id, a.id) < (v_user_id, v_before)
          and a.user_id >= v_user_id
        order by a.user_id desc, a.id desc
        limit v_limit
      )
    ) as y
    order by y.id desc
    limit v_limit
  ) as x;

  for i in 1 .. coalesce(cardinality(v_seen), 0) loop
    if v_market_id is null or v_seen_markets[i] = v_market_id then
      v_fills := case when cardinality(v_ids) < list_order_history.most then (
        select count(*) from trading.trades as t where t.taker_order_id = v_seen[i]
      ) + (
        select count(*) from trading.trades as t where t.maker_order_id = v_seen[i]
      ) end;
      if v_fills is null or v_ids <> '{}' and v_fill_count + v_fills > c_most_fills then
        v_next := v_ids[cardinality(v_ids)];
        exit;
      end if;
      v_ids := v_ids || v_seen[i];
      v_fill_count := v_fill_count + v_fills;
    end if;
  end loop;
  if v_next is null and v_market_id is not null and cardinality(v_seen) = c_window then
    v_next := v_seen[c_window];
  end if;

  return (
    select json_build_object(
      'data', coalesce(
        json_agg(
          trading.order_detail_object(o, a.shares_ahead, v_at) order by o.id desc
        ),
        '[]'
      ),
      'nextCursor', v_next::text
    )
    from trading.pick_orders(v_user_id, v_ids) as o
    left join trading.shares_ahead(v_ids, v_at) as a on a.order_id = o.id
  );
end
$$;

comment on function api.list_order_history(uuid, int, text, uuid) is
  'The body of GET /me/order-history: a user''s orders, archived ones too, newest first, in the '
  'form of GET /orders/:id. cursor is the nextCursor of the page before. A page is shorter than '
  'most, and still has a nextCursor, when the next order would make its fills more than 5,000, or '
  'when 5,000 orders were looked at for one market.';
