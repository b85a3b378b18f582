create or replace function trading.changed_book(
  market trading.market_state,
  places int[],
  changes bigint[],
  positions_left bigint[] default null,
  positions_gone bigint[] default null
)
returns trading.market_state
language plpgsql immutable parallel safe
as $$
declare
  c_count constant int := coalesce(cardinality(changed_book.places), 0);
  v_yes int := market.best_yes_price;
  v_no int := market.best_no_price;
  -- Of the orders at these prices: the first that is left, and the last that is gone.
  v_yes_left bigint;
  v_yes_gone bigint;
  v_no_left bigint;
  v_no_gone bigint;
begin
  for i in 1 .. c_count loop
    market.depth[places[i]] := nullif(
      coalesce(market.depth[places[i]], 0) + changes[i], 0
    );
    if changes[i] > 0 and places[i] < 100 then
      v_yes := greatest(v_yes, places[i]);
    elsif changes[i] > 0 then
      v_no := greatest(v_no, places[i] - 99);
    end if;
  end loop;
  while v_yes > 0 and coalesce(market.depth[v_yes], 0) = 0 loop
    v_yes := v_yes - 1;
  end loop;
  while v_no > 0 and coalesce(market.depth[99 + v_no], 0) = 0 loop
    v_no := v_no - 1;
  end loop;
  for i in 1 .. case when positions_left is null then 0 else c_count end loop
    if places[i] = v_yes then
      v_yes_left := least(v_yes_left, positions_left[i]);
      v_yes_gone := greatest(v_yes_gone, positions_gone[i]);
    elsif v_no > 0 and places[i] = 99 + v_no then
      v_no_left := least(v_no_left, positions_left[i]);
      v_no_gone := greatest(v_no_gone, positions_gone[i]);
    end if;
  end loop;
  market.first_yes_position := case
    when v_yes_left is not null then v_yes_left
    when v_yes = market.best_yes_price then greatest(market.first_yes_position, v_yes_gone + 1)
    else 0
  end;
  market.first_no_position := case
    when v_no_left is not null then v_no_left
    when v_no = market.best_no_price then greatest(market.first_no_position, v_no_gone + 1)
    else 0
  end;
  market.best_yes_price := v_yes;
  market.best_no_price := v_no;
  return market;
end
$$;

comment on function trading.changed_book(
  trading.market_state, int[], bigint[], bigint[], bigint[]
) is
  'A market with shares added to its depth at some places (trading.depth_place), and with the best '
  'prices and first positions that follow. positions_left and positions_gone: at each place, the '
  'position of an order that a call has read there and left, or taken away; those that were read '
  'are the first of their queue. Without them a side is searched from its beginning once its best '
  'price moves.';
