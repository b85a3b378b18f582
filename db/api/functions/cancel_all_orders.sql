create or replace function api.cancel_all_orders(
  user_id uuid,
  market_id uuid default null,
  idempotency_key uuid default null,
  request_fingerprint uuid default null,
  until_order_id bigint default null,
  cancelled_before int default 0,
  most int default 200,
  out code text,
  out message text,
  out replayed boolean,
  out body text,
  out cancelled int,
  out last_order_id bigint
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
declare
  c_most_markets constant int := 16;
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = cancel_all_orders.user_id
  );
  v_market_id constant bigint := (
    select m.id from catalog.markets as m where m.public_id = cancel_all_orders.market_id
  );
  v_kept core.result;
  v_market_ids bigint[];
begin
  message := null; -- the standard one of the code
  replayed := false;
  code := case
    when v_user_id is null then 'UNAUTHORIZED'
    when cancel_all_orders.market_id is not null and v_market_id is null then 'MARKET_NOT_FOUND'
  end;
  if code is not null then
    return;
  end if;
  v_kept := trading.find_reply(
    v_user_id, cancel_all_orders.idempotency_key, cancel_all_orders.request_fingerprint
  );
  if v_kept.replayed is not null then
    code := v_kept.code;
    replayed := v_kept.replayed;
    body := v_kept.body;
    return;
  end if;

  last_order_id := coalesce(cancel_all_orders.until_order_id, (
    select max(b.order_id) from trading.active_orders as b where b.user_id = v_user_id
  ), 0);
  v_market_ids := array(
    select distinct o.market_id
    from trading.active_orders_until(
      v_user_id, last_order_id, v_market_id, cancel_all_orders.most
    ) as o
    order by o.market_id
    limit c_most_markets
  );
  cancelled := 0;
  if cardinality(v_market_ids) > 0 then
    -- Only the first one is waited for, so that no market is kept locked meanwhile.
    perform trading.lock_market(v_market_ids[1]);
    v_market_ids := v_market_ids[1] || trading.lock_free_markets(v_market_ids[2 : c_most_markets]);
    cancelled := trading.end_orders(
      array(
        select o.order_id
        from trading.active_orders_until(
          v_user_id, last_order_id, v_market_id, cancel_all_orders.most
        ) as o
        where o.market_id = any (v_market_ids)
      ),
      'user_cancelled', core.now(), announced => false
    );
  end if;
  if cancel_all_orders.idempotency_key is null then
    cancelled := cancelled + cancel_all_orders.cancelled_before;
  else
    perform trading.lock_traders(array[v_user_id]);
    v_kept := trading.find_reply(
      v_user_id, cancel_all_orders.idempotency_key, cancel_all_orders.request_fingerprint
    );
    if v_kept.replayed is not null then
      raise exception 'The command is finished by another call'
        using errcode = 'serialization_failure';
    end if;
    -- The count of the calls before is in the row of the key.
    cancelled := cancelled + coalesce((
      select k.cancelled_orders
      from trading.idempotency_keys as k
      where k.user_id = v_user_id
        and k.key = cancel_all_orders.idempotency_key
        and k.request_fingerprint = cancel_all_orders.request_fingerprint
        and k.created_at > core.now() - trading.key_lifetime()
    ), 0);
  end if;

  if not exists (
    select from trading.active_orders_until(v_user_id, last_order_id, v_market_id, 1)
  ) then
    body := format(
      '{"cancelled":%s,"balance":%s}',
      cancelled,
      (
        select trading.balance_object(t.balance_cents)
        from trading.traders as t
        where t.user_id = v_user_id
      )
    );
  end if;
  if cancel_all_orders.idempotency_key is not null then
    perform trading.keep_reply(
      v_user_id, cancel_all_orders.idempotency_key, cancel_all_orders.request_fingerprint, body,
      cancelled
    );
  end if;
end
$$;

comment on function api.cancel_all_orders(uuid, uuid, uuid, uuid, bigint, int, int) is
  'Cancels open orders of a user (user_cancelled), resting and scheduled ones, in one market or '
  'in all: at most so many, of at most 16 markets. body is null while there are more: then it is '
  'to be called again with until_order_id => last_order_id and cancelled_before => cancelled. '
  'Only orders up to that id count, and those that amendments put in their place, so that it ends '
  'however fast new ones come. The user gets no events, but those of orders that were past their '
  'expiry or stopped: these end for that reason, and are not counted. With an idempotency key the '
  'calls of one command are counted together, and the last one keeps the answer. Rejections: '
  'UNAUTHORIZED, MARKET_NOT_FOUND, IDEMPOTENCY_KEY_REUSED. May fail with 40001: call it again. '
  'Locks: the first of the markets, those of the others that are free; with a key then the user.';
