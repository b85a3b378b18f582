create or replace function trading.read_book_slice(
  context trading.market_context,
  requests trading.order_request[],
  demand int[],
  depth int
)
returns trading.book_slice
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_orders trading.resting_order[] := '{}';
  v_order_count int := 0;
  v_yes_floor int := 0;
  v_no_floor int := 0;
  v_side trading.side;
  v_request trading.order_request;
  v_request_count constant int := cardinality(read_book_slice.requests);
  v_demand bigint[];
  v_demand_left bigint;
  v_taken_by_narrow bigint;
  v_read bigint;
  v_widest int;
  v_limit int;
  v_last_price int;
  v_row record;
  v_best_price int;
  v_first_position bigint;
begin
  foreach v_side in array array['yes', 'no']::trading.side[] loop
    -- What takers of the other side could take, by the limit they would take it at.
    v_demand := null;
    v_demand_left := 0;
    v_widest := 0;
    for i in 1 .. v_request_count loop
      v_request := read_book_slice.requests[i];
      if v_request.book_side <> v_side and v_request.problem is null then
        if v_demand is null then
          v_demand := array_fill(0::bigint, array[99]);
          v_limit := 99;
        end if;
        v_demand[v_request.book_price] := v_demand[v_request.book_price]
          + read_book_slice.depth::bigint * read_book_slice.demand[i];
        v_demand_left := v_demand_left
          + read_book_slice.depth::bigint * read_book_slice.demand[i];
        v_widest := greatest(v_widest, v_request.book_price);
        v_limit := least(v_limit, v_request.book_price);
      end if;
    end loop;
    continue when v_demand is null;
    v_best_price := case v_side when 'yes' then context.best_yes else context.best_no end;
    v_first_position := case v_side
      when 'yes' then context.first_yes_position
      else context.first_no_position
    end;

    -- Read on while the orders read could all be taken: in the worst case the narrow limits
    -- take what they reach first, and leave the wide ones to go deeper.
    v_read := 0;
    v_taken_by_narrow := 0;
    v_last_price := 0;
    for v_row in
      select
        (
          o.id, o.public_id, o.user_id, o.side, o.order_type, o.price, o.quantity,
          o.filled_quantity, o.created_at, o.expires_at, b.book_side, b.book_price, null
        )::trading.resting_order as resting,
        b.book_price,
        case when o.expires_at <= context.at then 0 else o.quantity - o.filled_quantity end
          as available
      from (
        -- The rest of the best queue, and then what is behind; an append reads them in this order.
        (
          select x.*
          from trading.active_orders as x
          where x.market_id = context.market_id
            and x.book_side = v_side
            and x.book_price = v_best_price
            and x.book_price >= 100 - v_widest
            and x.queue_position >= v_first_position
          order by x.queue_position
        )
        union all
        (
          select x.*
          from trading.active_orders as x
          where x.market_id = context.market_id
            and x.book_side = v_side
            and x.book_price < v_best_price
            and x.book_price >= 100 - v_widest
            and x.queue_position is not null
          order by x.book_price desc, x.queue_position
        )
      ) as b
      cross join lateral (
        select x.* from trading.orders as x where x.id = b.order_id limit 1
      ) as o
    loop
      while v_limit < 100 - v_row.book_price loop
        v_taken_by_narrow := least(v_taken_by_narrow + v_demand[v_limit], v_read);
        v_demand_left := v_demand_left - v_demand[v_limit];
        v_limit := v_limit + 1;
      end loop;
      if v_read >= v_taken_by_narrow + v_demand_left then
        if v_side = 'yes' then
          v_yes_floor := v_last_price;
        else
          v_no_floor := v_last_price;
        end if;
        exit;
      end if;
      -- A variable of its own: an element set in a field of a row copies the whole array.
      v_order_count := v_order_count + 1;
      v_orders[v_order_count] := v_row.resting;
      v_read := v_read + v_row.available;
      v_last_price := v_row.book_price;
    end loop;
  end loop;
  return (v_orders, v_yes_floor, v_no_floor, null)::trading.book_slice;
end
$$;

comment on function trading.read_book_slice(
  trading.market_context, trading.order_request[], int[], int
) is
  'The resting orders that a batch can reach, in price-time order, no deeper than its requests '
  'could take if their demand (trading.read_reach) were depth times as large. Nothing else can '
  'change the book meanwhile: the caller holds the market''s lock.';
