create or replace function api.list_fills(
  user_id uuid,
  most int,
  cursor text default null,
  market_id uuid default null,
  order_id uuid default null
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  -- Trades looked at, at most: a page may be short, and the next one goes on.
  c_window constant int := 5000;
  v_before bigint := coalesce(list_fills.cursor::bigint, 9223372036854775807);
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = list_fills.user_id
  );
  v_market_id bigint;
  v_order_id bigint;
  v_limit int := list_fills.most + 1;
  v_seen bigint[];
  v_ids bigint[];
  v_next bigint;
begin
  if list_fills.market_id is not null then
    v_market_id := coalesce((
      select m.id from catalog.markets as m where m.public_id = list_fills.market_id
    ), 0);
    v_limit := c_window;
  end if;
  if list_fills.order_id is not null then
    v_order_id := coalesce((
      select o.id from trading.find_order(list_fills.user_id, list_fills.order_id) as o
    ), 0);
    v_seen := array(
      select x.id
      from (
        select t.id from trading.trades as t where t.taker_order_id = v_order_id
        union all
        select t.id from trading.trades as t where t.maker_order_id = v_order_id
      ) as x
      where x.id < v_before
      order by x.id desc
      limit v_limit
    );
  else
    -- The user is given as a range: an equality would let the planner walk the primary key, past
    -- the trades of all others.
    v_seen := array(
      select x.id
      from (
        (
          select t.id
          from trading.trades as t
          where (t.taker_user_id, t.id) < (v_user_id, v_before)
            and t.taker_user_id >= v_user_id
          order by t.taker_user_id desc, t.id desc
          limit v_limit
        )
        union all
        (
          select t.id
          from trading.trades as t
          where (t.maker_user_id, t.id) < (v_user_id, v_before)
            and t.maker_user_id >= v_user_id
          order by t.maker_user_id desc, t.id desc
          limit v_limit
        )
      ) as x
      order by x.id desc
      limit v_limit
    );
  end if;
  v_ids := case
    when v_market_id is null then v_seen
    else array(
      select t.id
      from unnest(v_seen) as s (id)
      join trading.trades as t on t.id = s.id
      where t.market_id = v_market_id
      order by t.id desc
      limit list_fills.most + 1
    )
  end;
  if cardinality(v_ids) > list_fills.most then
    v_ids := v_ids[1:list_fills.most];
    v_next := v_ids[list_fills.most];
  elsif v_market_id is not null and cardinality(v_seen) = c_window then
    v_next := v_seen[c_window];
  end if;

  return (
    select json_build_object(
      'data', coalesce(json_agg(f.fill order by f.trade_id desc), '[]'),
      'nextCursor', v_next::text
    )
    from trading.own_fills(v_ids, v_user_id) as f
  );
end
$$;

comment on function api.list_fills(uuid, int, text, uuid, uuid) is
  'The body of GET /me/fills: a user''s fills, newest first, of all orders, of one market or of '
  'one order. cursor is the nextCursor of the page before. A page of one market is shorter than '
  'most, and still has a nextCursor, when 5,000 of the user''s trades were looked at for it.';
