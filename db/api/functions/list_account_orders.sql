create or replace function api.list_account_orders(
  user_id uuid, status text, page int, page_size int
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  v_at timestamptz := core.now();
  v_offset bigint := (list_account_orders.page - 1)::bigint * list_account_orders.page_size;
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = list_account_orders.user_id
  );
  v_ids bigint[];
  v_total bigint;
begin
  if list_account_orders.status not in ('open', 'filled', 'all') then
    perform core.raise_error('INVALID_REQUEST', 'status: unknown');
  end if;

  -- For the pages the user is given as a range: an equality would let the planner walk the primary
  -- key, past the orders of all others.
  if list_account_orders.status = 'open' then
    v_total := (
      select count(*)
      from trading.active_orders as b
      where b.user_id = v_user_id
        and b.queue_position is not null
        and (b.expires_at is null or b.expires_at > v_at)
    );
    if v_offset < v_total then
      v_ids := array(
        select b.order_id
        from trading.active_orders as b
        where (b.user_id, b.order_id) < (v_user_id, 9223372036854775807)
          and b.user_id >= v_user_id
          and b.queue_position is not null
          and (b.expires_at is null or b.expires_at > v_at)
        order by b.user_id desc, b.order_id desc
        limit list_account_orders.page_size
        offset v_offset
      );
    end if;
  else
    v_total := (
      select count(*)
      from trading.orders as o
      where o.user_id = v_user_id
        and (list_account_orders.status = 'all' or o.status = 'filled')
    ) + (
      select count(*)
      from trading.archived_orders as a
      where a.user_id = v_user_id
        and list_account_orders.status = 'all'
    );
    if v_offset < v_total then
      v_ids := array(
        select x.id
        from (
          (
            select o.id
            from trading.orders as o
            where (o.user_id, o.id) < (v_user_id, 9223372036854775807)
              and o.user_id >= v_user_id
              and (list_account_orders.status = 'all' or o.status = 'filled')
            order by o.user_id desc, o.id desc
            limit v_offset + list_account_orders.page_size
          )
          union all
          (
            select a.id
            from trading.archived_orders as a
            where (a.user_id, a.id) < (v_user_id, 9223372036854775807)
              and a.user_id >= v_user_id
              and list_account_orders.status = 'all'
            order by a.user_id desc, a.id desc
            limit v_offset + list_account_orders.page_size
          )
        ) as x
        order by x.id desc
        limit list_account_orders.page_size
        offset v_offset
      );
    end if;
  end if;

  return (
    select core.page_object(
      json_agg(
        json_build_object(
          'id', o.public_id,
          'userId', list_account_orders.user_id,
          'marketId', m.public_id,
          'marketTitle', m.title,
          'side', o.side,
          'price', o.price,
          'quantity', o.quantity,
          'filledQuantity', o.filled_quantity,
          'status', o.status,
          'orderType', o.order_type,
          'createdAt', core.iso8601(o.created_at),
          'expiresAt', core.iso8601(o.expires_at)
        )
        order by o.id desc
      ),
      v_total,
      list_account_orders.page,
      list_account_orders.page_size
    )
    from trading.pick_orders(v_user_id, v_ids) as o
    -- With a limit it can only be looked up, whatever the planner expects.
    cross join lateral (
      select y.public_id, y.title from catalog.markets as y where y.id = o.market_id limit 1
    ) as m
  );
end
$$;

comment on function api.list_account_orders(uuid, text, int, int) is
  'The body of GET /me/orders: a user''s orders, newest first. status: open (resting and not past '
  'their expiry), filled, or all, archived ones included; page counts from 1. Cost: the total '
  'reads an index entry or row for each of the user''s orders, a page those that are newer; one '
  'beyond the end reads none. Errors: INVALID_REQUEST.';
