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
  v_results api.result[] := array(
    select r
    from api.place_orders(
      place_orders_versioned.orders, place_orders_versioned.atomic, place_orders_versioned.waits
    ) as r
  );
  v_result api.result;
  v_place int := 0;
  v_id text;
  v_versions jsonb := '{}'::jsonb; -- by the ids of markets
begin
  foreach v_result in array v_results loop
    v_id := place_orders_versioned.orders -> v_place ->> 'marketId';
    v_place := v_place + 1;
    -- That of the whole call: nobody sees one in between.
    if not v_versions ? v_id then
      v_versions := v_versions || jsonb_build_object(v_id, (
        select s.version
        from catalog.markets as m
        join trading.market_state as s on s.market_id = m.id
        where m.public_id = v_id::uuid
      ));
    end if;
    code := v_result.code;
    message := v_result.message;
    replayed := v_result.replayed;
    body := v_result.body;
    market_version := (v_versions ->> v_id)::bigint;
    return next;
  end loop;
end
$$;

comment on function api.place_orders_versioned(jsonb, boolean, boolean) is
  'As api.place_orders, and market_version: the version of the order''s market after the call, '
  'which is the first one that shows it. Null if there is no such market.';
