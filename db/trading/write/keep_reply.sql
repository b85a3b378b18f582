create or replace function trading.keep_reply(
  user_id bigint,
  key uuid,
  request_fingerprint uuid,
  reply text,
  cancelled_orders int default null
)
returns void
language plpgsql volatile
as $$
declare
  v_at constant timestamptz := core.now();
begin
  if keep_reply.request_fingerprint is null then
    perform core.raise_error(
      'INVALID_REQUEST', 'A command with an idempotency key needs the fingerprint of its request'
    );
  end if;
  insert into trading.idempotency_keys as k (
    user_id, key, created_at, request_fingerprint, reply, cancelled_orders
  )
  values (
    keep_reply.user_id, keep_reply.key, v_at, keep_reply.request_fingerprint, keep_reply.reply,
    keep_reply.cancelled_orders
  )
  on conflict on constraint idempotency_keys_pkey do update set
    order_id = null,
    created_at = excluded.created_at,
    request_fingerprint = excluded.request_fingerprint,
    reply = excluded.reply,
    cancelled_orders = excluded.cancelled_orders
  where k.created_at <= v_at - trading.key_lifetime()
    or (
      k.order_id is null
      and k.reply is null
      and k.request_fingerprint = excluded.request_fingerprint
    );
  if not found then
    raise exception 'Another request with this idempotency key came first'
      using errcode = 'serialization_failure';
  end if;
end
$$;

comment on function trading.keep_reply(bigint, uuid, uuid, text, int) is
  'Keeps the answer of a command in the transaction that carries it out. A key older than 24 hours '
  'is taken over. A command of several transactions keeps null until its last one, with the number '
  'of the orders that it has cancelled so far. Errors: 40001, if another request has used the key '
  'meanwhile: then the whole call has no effect, and finds that request when it is made again; '
  'INVALID_REQUEST without a fingerprint. The caller holds the user''s lock.';
