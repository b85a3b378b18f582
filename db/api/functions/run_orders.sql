create or replace function api.run_orders(
  orders jsonb,
  atomic boolean default false,
  waits boolean default true,
  skips boolean default false,
  most_makers int default null,
  user_id uuid default null,
  idempotency_key uuid default null,
  request_fingerprint uuid default null
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
  v_results core.result[];
begin
  if run_orders.idempotency_key is not null then
    return query
      select k.code, k.message, k.replayed, k.body, null::bigint
      from trading.place_batch(
        run_orders.user_id, run_orders.orders, run_orders.atomic, run_orders.idempotency_key,
        run_orders.request_fingerprint
      ) as k;
    return;
  end if;
  v_results := array(
    select r
    from trading.place_orders(
      run_orders.orders, run_orders.atomic, run_orders.waits, run_orders.most_makers,
      run_orders.skips
    ) as r
  );
  -- The version is that of the whole call: nobody sees one in between.
  return query
    select
      r.code, r.message, r.replayed, r.body,
      (
        select s.version
        from catalog.markets as m
        join trading.market_state as s on s.market_id = m.id
        where m.public_id = (run_orders.orders -> (r.place - 1)::int ->> 'marketId')::uuid
      )
    from unnest(v_results) with ordinality as r (code, message, replayed, body, place);
end
$$;

comment on function api.run_orders(
  jsonb, boolean, boolean, boolean, int, uuid, uuid, uuid
) is
  'What servers call for api.place_orders, and market_version: the version of the order''s market '
  'after the call, which is the first one that shows it. Null if there is no such market. '
  'AGAIN: the order has no effect, and must be placed again. most_makers: the orders of the call '
  'meet at most so many, and those that do not fit are AGAIN; null is any number. skips: '
  'it does not wait for users. Orders of a user who is locked elsewhere are AGAIN, and all of '
  'a market where they could meet such a user. These two are not for an atomic call. With '
  'idempotency_key, of user_id: one row for the batch, as trading.place_batch has it.';
