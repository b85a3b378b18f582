create or replace function trading.requests_of_markets(
  requests trading.order_request[],
  market_ids bigint[],
  without_user_ids bigint[] default '{}'
)
returns trading.order_request[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept trading.order_request[] := '{}';
  v_request trading.order_request;
begin
  foreach v_request in array requests_of_markets.requests loop
    v_request.market := array_position(market_ids, v_request.market_id); -- mutant: places_beside_a_busy_market
    if v_request.market is not null
      and array_position(without_user_ids, v_request.user_id) is null -- mutant: busy_taker_overlooked
    then
      v_kept := v_kept || v_request;
    end if;
  end loop;
  return v_kept;
end
$$;

comment on function trading.requests_of_markets(
  trading.order_request[], bigint[], bigint[]
) is
  'Those of the requests that are for certain markets, with their places among these, and not of '
  'certain users.';
