create or replace function api.list_orders(
  user_id uuid, market_id uuid default null, status text default 'open'
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_rows constant int := 200;
  v_at timestamptz := core.now();
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = list_orders.user_id
  );
  v_market_id bigint;
  v_ids bigint[];
  v_total bigint;
begin
  if list_orders.status not in ('open', 'scheduled', 'filled', 'cancelled', 'all') then
    perform core.raise_error('INVALID_REQUEST', 'status: unknown');
  end if;
  if list_orders.market_id is not null then
    select m.id into v_market_id
    from catalog.markets as m
    where m.public_id = list_orders.market_id;
    v_market_id := coalesce(v_market_id, 0);
  end if;

  if list_orders.status in ('open', 'scheduled') then
    v_ids := array(
      select b.order_id
      from trading.active_orders as b
      where b.user_id = v_user_id
        and (v_market_id is null or b.market_id = v_market_id)
        and (list_orders.status = 'open' or b.queue_position is null)
        and (b.expires_at is null or b.expires_at > v_at)
      order by b.order_id desc
      limit c_most_rows
    );
  else
    v_ids := array(
      select o.id
      from trading.orders as o
      where o.user_id = v_user_id
        and (v_market_id is null or o.market_id = v_market_id)
        and (list_orders.status = 'all' or o.status = list_orders.status::trading.order_status)
      order by o.id desc
      limit c_most_rows
    );
    if list_orders.status in ('cancelled', 'all') then
      v_ids := array(
        select x.id
        from (
          select u.id from unnest(v_ids) as u (id)
          union all
          (
            select a.id
            from trading.archived_orders as a
            where a.user_id = v_user_id
              and (v_market_id is null or a.market_id = v_market_id)
            order by a.id desc
            limit c_most_rows
          )
        ) as x
        order by x.id desc
        limit c_most_rows
      );
      v_total := (
        select count(*)
        from trading.orders as o
        where o.user_id = v_user_id
          and (v_market_id is null or o.market_id = v_market_id)
          and (list_orders.status = 'all' or o.status = 'cancelled')
      ) + (
        select count(*)
        from trading.archived_orders as a
        where a.user_id = v_user_id
          and (v_market_id is null or a.market_id = v_market_id)
      );
    end if;
  end if;

  return (
    select json_build_object(
      'data', coalesce(
        json_agg(
          trading.listed_order_object(o, a.shares_ahead, v_at) order by o.id desc
        ),
        '[]'
      ),
      'meta', case
        when v_total is null then json_build_object('pageSize', count(*))
        else json_build_object('pageSize', count(*), 'total', v_total)
      end
    )
    from trading.pick_orders(v_user_id, v_ids) as o
    left join trading.shares_ahead(v_ids, v_at) as a on a.order_id = o.id
  );
end
$$;

comment on function api.list_orders(uuid, uuid, text) is
  'The body of GET /orders: a user''s orders, newest first, at most 200, of one market or all. '
  'status: open (scheduled and resting ones not past their expiry), scheduled, filled, cancelled '
  'or all; meta.total comes with the last two, and both have archived orders too. Errors: '
  'INVALID_REQUEST.';
