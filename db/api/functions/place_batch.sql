create or replace function api.place_batch(
  user_id uuid,
  orders jsonb,
  atomic boolean,
  idempotency_key uuid,
  request_fingerprint uuid
)
returns api.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set enable_memoize = off
as $$
declare
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = place_batch.user_id
  );
  v_kept api.result;
  v_results api.result[];
  v_unfinished int;
  v_reply text;
begin
  v_kept := trading.find_reply(
    v_user_id, place_batch.idempotency_key, place_batch.request_fingerprint
  );
  if v_kept.replayed is null then
    perform trading.lock_markets(array(
      select distinct r.market_id
      from trading.read_requests(place_batch.orders) as r
      order by r.market_id nulls last
    ));
    v_kept := trading.find_reply(
      v_user_id, place_batch.idempotency_key, place_batch.request_fingerprint
    );
  end if;
  if v_kept.replayed is not null then
    return v_kept;
  end if;

  begin
    v_results := array(
      select (r.code, r.message, r.replayed, r.body)::api.result
      from api.place_orders(place_batch.orders, place_batch.atomic) as r
    );
    v_unfinished := (
      select min(r.place)
      from unnest(v_results) with ordinality as r (code, message, replayed, body, place)
      where r.code = 'CONFLICT_RETRY'
    );
    if v_unfinished is not null and not place_batch.atomic then -- mutant: unfinished_batch_in_part
      raise exception using errcode = 'triggered_action_exception';
    end if;
  exception when triggered_action_exception then
    -- Nothing is placed. The makers in the way of this order are cancelled, as if it came alone.
    perform
    from api.place_orders(jsonb_build_array(place_batch.orders -> (v_unfinished - 1)), true);
  end;
  if v_unfinished is not null then
    return ('CONFLICT_RETRY', null, false, null)::api.result;
  end if;

  v_reply := (
    select json_build_object(
      'results', coalesce(
        json_agg(
          json_build_object(
            'code', r.code, 'message', r.message, 'replayed', r.replayed, 'body', r.body
          )
          order by r.place
        ),
        '[]'
      ),
      'balance', (
        select trading.balance_object(t.balance_cents)::json
        from trading.traders as t
        where t.user_id = v_user_id
      )
    )
    from unnest(v_results) with ordinality as r (code, message, replayed, body, place)
  )::text;
  if not place_batch.atomic
    or not exists (select from unnest(v_results) as r where r.code is not null)
  then
    perform trading.lock_traders(array[v_user_id]);
    perform trading.keep_reply(
      v_user_id, place_batch.idempotency_key, place_batch.request_fingerprint, v_reply
    );
  end if;
  return (null, null, false, v_reply)::api.result;
end
$$;

comment on function api.place_batch(uuid, jsonb, boolean, uuid, uuid) is
  'Places the orders of a batch with an idempotency key, as api.place_orders does, in one '
  'transaction that also keeps the answer: a JSON object of results ({code, message, replayed, '
  'body} for each order) and balance. The same request gets it again for 24 hours (replayed); '
  'another request with the key is rejected with IDEMPOTENCY_KEY_REUSED. CONFLICT_RETRY: makers '
  'were cancelled, no order is placed, and the batch is to be placed again. The answer of an '
  'atomic batch that is rejected is not kept. May fail with 40001, 40P01 or 55P03: call it again. '
  'Locks: the markets, ascending; then the users as api.place_orders does.';
