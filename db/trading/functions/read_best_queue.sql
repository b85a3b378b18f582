create or replace function trading.read_best_queue(
  context trading.market_context, request trading.order_request
)
returns trading.book_slice
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant int := 18; -- as many as trading.read_book_slice reads first
  v_side constant trading.side := case request.book_side
    when 'yes' then 'no'::trading.side else 'yes'
  end;
  v_price constant int := case request.book_side
    when 'yes' then context.best_no_price else context.best_yes_price
  end;
  v_first constant bigint := case request.book_side
    when 'yes' then context.first_no_position else context.first_yes_position
  end;
begin
  if request.problem is not null then
    return null;
  end if;
  return (
    select case when max(k.shares_before + k.available) >= request.quantity then (
      array_agg(
        (
          k.order_id, k.order_public_id, 1, k.user_id, k.order_type, k.book_side, k.book_price,
          k.queue_position, k.left_quantity, k.available = 0 -- mutant: best_queue_forgets_expiry
        )::trading.resting_order
        order by k.queue_position
      ) filter (where k.shares_before < request.quantity),
      array[case v_side when 'yes' then v_price else 0 end],
      array[case v_side when 'no' then v_price else 0 end]
    )::trading.book_slice end
    from (
      select
        b.*, a.available,
        sum(a.available) over (order by b.queue_position rows unbounded preceding) - a.available
          as shares_before
      from (
        select x.*
        from trading.active_orders as x
        where x.market_id = context.market_id
          and x.book_side = v_side
          and x.book_price = v_price
          and x.queue_position >= v_first
        order by x.queue_position
        limit c_most
      ) as b
      cross join lateral (
        select case when b.expires_at <= context.at then 0 else b.left_quantity end as available
      ) as a
    ) as k
  );
end
$$;

comment on function trading.read_best_queue(
  trading.market_context, trading.order_request
) is
  'As trading.read_book_slice, for a single request that the front of the best price''s queue can '
  'fill, as it mostly can; null if it cannot.';
