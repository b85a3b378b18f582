create or replace function api.get_order(user_id uuid, order_id uuid)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  v_at constant timestamptz := core.now();
begin
  return (
    select trading.order_detail_object(o, a.shares_ahead, v_at)
    from trading.find_order(get_order.user_id, get_order.order_id) as o
    left join lateral trading.shares_ahead(array[o.id], v_at) as a on true
  );
end
$$;

comment on function api.get_order(uuid, uuid) is
  'The body of GET /orders/:id: a user''s order, archived or not, with its fills, or null. Cost of '
  'sharesAhead: the queue before the order.';
