create or replace function trading.read_holdings(
  markets trading.market_context[],
  requests trading.order_request[],
  makers trading.resting_order[],
  user_ids bigint[]
)
returns trading.holding_arrays
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select (
      array_agg(p.key order by p.key),
      array_agg(
        coalesce(
          h.holding,
          (
            p.market_id, p.user_id, null, 0, 0, 0, 0, false, null, 0, 0, 0, 0, false
          )::trading.holdings
        )
        order by p.key
      )
    )::trading.holding_arrays
    from (
      select distinct
        trading.holding_key(q.market, width_bucket(q.user_id, read_holdings.user_ids)) as key,
        read_holdings.markets[q.market].market_id,
        q.user_id
      from (
        select r.market, r.user_id
        from unnest(read_holdings.requests) as r
        where r.user_id is not null
          and r.market_id is not null
        union all
        select k.market, k.user_id
        from unnest(read_holdings.makers) as k
      ) as q
    ) as p
    -- The limit keeps it a look-up by the whole key, whatever the planner thinks of the table.
    left join lateral (
      select x as holding
      from trading.holdings as x
      where x.market_id = p.market_id and x.user_id = p.user_id
      limit 1
    ) as h on true
  );
end
$$;

comment on function trading.read_holdings(
  trading.market_context[], trading.order_request[], trading.resting_order[], bigint[]
) is
  'The shares of the traders of a batch, each in the markets of its requests and orders. user_ids '
  'are all traders of the batch, ascending. To be called under the markets'' locks.';
