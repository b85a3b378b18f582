create or replace function trading.read_holdings(market_id bigint, user_ids bigint[])
returns setof trading.holding_arrays
language sql stable
begin atomic
  select
    array_agg(coalesce(y.has_traded, false) or coalesce(n.has_traded, false) order by t.place),
    array_agg(array[coalesce(y.quantity, 0), coalesce(n.quantity, 0)] order by t.place),
    array_agg(array[coalesce(y.cost_cents, 0), coalesce(n.cost_cents, 0)] order by t.place),
    array_agg(array[coalesce(y.fee_cents, 0), coalesce(n.fee_cents, 0)] order by t.place),
    array_agg(
      array[coalesce(y.realised_cents, 0), coalesce(n.realised_cents, 0)] order by t.place
    ),
    null::boolean[]
  from unnest(read_holdings.user_ids) with ordinality as t (user_id, place)
  -- The limits keep each a look-up by the whole key, whatever the planner thinks of the table.
  left join lateral (
    select p.*
    from trading.positions as p
    where p.market_id = read_holdings.market_id and p.user_id = t.user_id and p.side = 'yes'
    limit 1
  ) as y on true
  left join lateral (
    select p.*
    from trading.positions as p
    where p.market_id = read_holdings.market_id and p.user_id = t.user_id and p.side = 'no'
    limit 1
  ) as n on true;
end;

comment on function trading.read_holdings(bigint, bigint[]) is
  'The shares of traders in a market: one row. To be called under the market''s lock.';
