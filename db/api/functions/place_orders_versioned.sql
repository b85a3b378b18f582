create or replace function api.place_orders_versioned(
  orders jsonb, atomic boolean default false, waits boolean default true
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
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_results api.result[];
  v_ids text[];
  v_versions bigint[];
begin
  v_results := array(
    select (r.code, r.message, r.replayed, r.body)::api.result
    from api.place_orders(
      place_orders_versioned.orders, place_orders_versioned.atomic, place_orders_versioned.waits
    ) as r
  );
  -- Those of the whole call: nobody sees one in between.
  select array_agg(v.id order by v.id), array_agg(v.version order by v.id)
  into v_ids, v_versions
  from (
    select d.id, s.version
    from (
      select distinct o ->> 'marketId' as id
      from jsonb_array_elements(place_orders_versioned.orders) as o
    ) as d
    join catalog.markets as m on m.public_id = d.id::uuid
    join trading.market_state as s on s.market_id = m.id
  ) as v;
  return query
    select
      r.code, r.message, r.replayed, r.body,
      v_versions[array_position(v_ids, o.content ->> 'marketId')]
    from unnest(v_results) with ordinality as r (code, message, replayed, body, place)
    cross join lateral (
      select place_orders_versioned.orders -> (r.place::int - 1) as content
    ) as o
    order by r.place;
end
$$;

comment on function api.place_orders_versioned(jsonb, boolean, boolean) is
  'As api.place_orders, and market_version: the version of the order''s market after the call, '
  'which is the first one that shows it. Null if there is no such market.';
