create or replace function trading.read_replays(batch trading.batch)
returns trading.batch
language plpgsql stable
as $$
declare
  r constant trading.requests := batch.requests;
begin
  select
    array_agg(
      case
        when k.is_old is not false then null
        -- The key of another command, or of an order that was sent otherwise.
        when k.order_id is null or k.request_fingerprint <> r.request_fingerprint[v.i] then -1
        when k.request_fingerprint is null and r.request_fingerprint[v.i] is not null
          and not exists (
            select
            from trading.orders as o
            where o.id = k.order_id
              and trading.same_terms(
                r, v.i, o.market_id, o.side, o.order_type, o.price, o.quantity, o.budget_cents,
                o.time_in_force, o.post_only, o.expires_at
              )
          ) then -1
        else k.order_id
      end
      order by v.i
    ),
    array_agg(v.twin order by v.i),
    array_agg(v.i) filter (where k.is_old)
  into batch.replay, batch.twin, batch.old_keys
  from (
    select
      i,
      case
        when r.idempotency_key[i] is null or r.user_id[i] is null then i
        else min(i) over (partition by r.user_id[i], r.idempotency_key[i])
      end as twin
    from generate_subscripts(r.user_id, 1) as i
  ) as v
  left join lateral (
    select
      x.order_id, x.request_fingerprint,
      x.created_at <= batch.at - trading.key_lifetime() as is_old
    from trading.idempotency_keys as x
    where x.user_id = r.user_id[v.i]
      and x.key = r.idempotency_key[v.i]
    limit 1
  ) as k on true;
  return batch;
end
$$;

comment on function trading.read_replays(trading.batch) is
  'Of each request, replay: the order that its idempotency key stands for, -1 if the key stands '
  'for another request, null without a key or if it is new; and twin: the first request of the '
  'call with the same key of the same user, itself without a key. old_keys: the requests whose '
  'key is there and does not count any more. Read under the traders'' locks, since two calls may '
  'use the same key at once.';
