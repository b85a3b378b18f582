create or replace function api.place_orders_versioned(
  orders jsonb,
  atomic boolean default false,
  waits boolean default true,
  bounded boolean default false,
  skips boolean default false
)
returns table (
  code text,
  message text,
  replayed boolean,
  body text,
  market_version bigint
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/plain_nested_loops.sql
as $$
declare
  v_results constant core.result[] := array(
    select r
    from trading.place_orders(
      place_orders_versioned.orders,
      place_orders_versioned.atomic,
      place_orders_versioned.waits,
      most_makers => case when place_orders_versioned.bounded then
        trading.most_makers(delays_others => not place_orders_versioned.waits)
      end,
      skips => place_orders_versioned.skips
    ) as r
  );
begin
  -- The version is that of the whole call: nobody sees one in between.
  return query
    select
      r.code, r.message, r.replayed, r.body,
      (
        select s.version
        from catalog.markets as m
        join trading.market_state as s on s.market_id = m.id
        where m.public_id
          = (place_orders_versioned.orders -> (r.place - 1)::int ->> 'marketId')::uuid
      )
    from unnest(v_results) with ordinality as r (code, message, replayed, body, place);
end
$$;

comment on function api.place_orders_versioned(jsonb, boolean, boolean, boolean, boolean) is
  'As api.place_orders, and market_version: the version of the order''s market after the call, '
  'which is the first one that shows it. Null if there is no such market. bounded: the orders of '
  'the call meet at most trading.most_makers in all. What does not fit is MARKET_BUSY, has no '
  'effect, and must be placed again by a call that waits. MARKET_DEEP: the first order of a call '
  'that waits, if it meets too many by itself; only a call without the bound can place it. skips: '
  'it does not wait for users. Orders of a user who is locked elsewhere are USER_BUSY, and all of '
  'a market where they could meet such a user MAKER_BUSY; they have no effect, and must be placed '
  'again. Not for an atomic call.';
