create or replace function trading.read_holdings(market_id bigint, user_ids bigint[])
returns trading.holding_arrays
language plpgsql stable
set search_path = ''
as $$
declare
  v_holdings trading.holding_arrays;
begin
  select
    array_agg(coalesce(y.has_traded, false) or coalesce(n.has_traded, false) order by t.place),
    array_agg(array[coalesce(y.quantity, 0), coalesce(n.quantity, 0)] order by t.place),
    array_agg(array[coalesce(y.cost_cents, 0), coalesce(n.cost_cents, 0)] order by t.place),
    array_agg(array[coalesce(y.fee_cents, 0), coalesce(n.fee_cents, 0)] order by t.place),
    array_agg(
      array[coalesce(y.realised_cents, 0), coalesce(n.realised_cents, 0)] order by t.place
    ),
    null
  into v_holdings
  from unnest(read_holdings.user_ids) with ordinality as t (user_id, place)
  left join trading.positions as y
    on y.market_id = read_holdings.market_id and y.user_id = t.user_id and y.side = 'yes'
  left join trading.positions as n
    on n.market_id = read_holdings.market_id and n.user_id = t.user_id and n.side = 'no';
  return v_holdings;
end
$$;

comment on function trading.read_holdings(bigint, bigint[]) is
  'The shares of traders in a market. To be called under the market''s lock.';
