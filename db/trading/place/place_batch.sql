create or replace function trading.place_batch(
  orders jsonb,
  atomic boolean,
  waits boolean,
  skips boolean,
  most_makers int,
  codes text[] default null
)
returns trading.order_answer[]
language plpgsql volatile
as $$
declare
  v_requests trading.requests;
  v_free_ids bigint[];
  v_at timestamptz;
  v_batch trading.batch;
  v_are_locked boolean := false; -- users, by this call
  v_plain trading.order_answer;
begin
  if jsonb_array_length(place_batch.orders) = 1 and not place_batch.atomic
    and not place_batch.skips and place_batch.codes[1] is null
  then
    v_plain := trading.place_plain_order(place_batch.orders -> 0, place_batch.waits);
    if v_plain.body is not null then
      return array[v_plain];
    end if;
  end if;
  v_requests := trading.read_requests(place_batch.orders, place_batch.codes);
  if place_batch.waits then
    perform trading.lock_markets(v_requests.market_ids);
  else
    v_free_ids := trading.lock_free_markets(v_requests.market_ids);
    if cardinality(v_free_ids) < cardinality(v_requests.market_ids) then
      v_requests.code := array(
        select case
          when r.code is not null then r.code
          when place_batch.atomic
            or array_position(v_free_ids, v_requests.market_ids[r.g]) is null then 'AGAIN'
        end
        from unnest(v_requests.code, v_requests.market_place) with ordinality as r (code, g, place)
        order by r.place
      );
    end if;
  end if;
  if array_position(v_requests.code, null) is null then
    return array(
      select (c.code, null, false, null, null)::trading.order_answer
      from unnest(v_requests.code) with ordinality as c (code, place)
      order by c.place
    );
  end if;

  if place_batch.atomic then
    return trading.place_whole_batch(v_requests, true, place_batch.most_makers);
  end if;
  v_at := core.now();
  loop
    v_batch := trading.match_batch(
      v_requests, v_at,
      locks => case
        when place_batch.skips then 'skip'
        -- If one of those found now is locked elsewhere, waiting could deadlock, so the call fails
        -- and is made again.
        when v_are_locked then 'fail'
        else 'wait'
      end,
      most_makers => place_batch.most_makers
    );
    exit when (v_batch.results).code is not null;
    v_are_locked := v_are_locked or (v_batch.traders).user_ids is not null;
    v_requests.code := trading.leave_out(
      v_batch, place_batch.most_makers, by_order => place_batch.waits -- then all are of one market
    );
  end loop;
  v_batch := trading.write_batch(v_batch);
  return trading.batch_answers(v_batch);
end
$$;

comment on function trading.place_batch(jsonb, boolean, boolean, boolean, int, text[]) is
  'Places orders as api.run_orders does. most_makers: if the orders could meet more, the first '
  'half of them is tried, and so on; with waits => false instead the orders of the markets that '
  'have the fewest makers. If the first order alone could meet more, all are AGAIN. codes: those '
  'of orders that are not to be placed, null for the others. Errors: UNFIT_SESSION, 40001, 40P01 '
  'and 55P03.';
