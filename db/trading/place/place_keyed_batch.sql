create or replace function trading.place_keyed_batch(
  user_id uuid,
  orders jsonb,
  atomic boolean,
  idempotency_key uuid,
  request_fingerprint uuid,
  most_makers int
)
returns core.result
language plpgsql volatile
as $$
declare
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = place_keyed_batch.user_id
  );
  v_requests trading.requests := trading.read_requests(place_keyed_batch.orders);
  v_kept core.result;
  v_results trading.order_answer[];
  v_reply text;
begin
  v_kept := trading.find_reply(
    v_user_id, place_keyed_batch.idempotency_key, place_keyed_batch.request_fingerprint
  );
  if v_kept.replayed is null then
    perform trading.lock_markets(v_requests.market_ids);
    v_kept := trading.find_reply(
      v_user_id, place_keyed_batch.idempotency_key, place_keyed_batch.request_fingerprint
    );
  end if;
  if v_kept.replayed is not null then
    return v_kept;
  end if;

  if v_requests.user_id is not null then
    v_results := trading.place_whole_batch(
      v_requests, place_keyed_batch.atomic, place_keyed_batch.most_makers
    );
    if v_results[1].code in ('AGAIN', 'CONFLICT_RETRY') then
      return (v_results[1].code, null, false, null)::core.result;
    end if;
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
    from unnest(v_results) with ordinality as r (
      code, message, replayed, body, market_version, place
    )
  )::text;
  if not place_keyed_batch.atomic
    or not exists (select from unnest(v_results) as r where r.code is not null)
  then
    perform trading.lock_traders(array[v_user_id]);
    perform trading.keep_reply(
      v_user_id, place_keyed_batch.idempotency_key, place_keyed_batch.request_fingerprint, v_reply
    );
  end if;
  return (null, null, false, v_reply)::core.result;
end
$$;

comment on function trading.place_keyed_batch(uuid, jsonb, boolean, uuid, uuid, int) is
  'Places the orders of a batch with an idempotency key, as api.place_orders does, in one '
  'transaction that also keeps the answer: a JSON object of results ({code, message, replayed, '
  'body} for each order) and balance. The same request gets it again for 24 hours (replayed); '
  'another request with the key is rejected with IDEMPOTENCY_KEY_REUSED. CONFLICT_RETRY: makers '
  'were cancelled, no order is placed, and the batch is to be placed again. AGAIN: the orders '
  'could meet more than most_makers, and nothing is done. The answer of an '
  'atomic batch that is rejected is not kept. May fail with 40001, 40P01 or 55P03: call it again. '
  'Locks: the markets, ascending; then the users as api.place_orders does.';
