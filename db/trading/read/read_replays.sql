create or replace function trading.read_replays(requests trading.requests, at timestamptz)
returns table (replay bigint[], twin int[], old_keys int[])
language plpgsql stable
as $$
begin
  return query
    select
      array_agg(
        case
          when k.is_old is not false then null
          -- The key of another command, or of an order that was sent otherwise.
          when k.order_id is null or k.request_fingerprint <> r.fingerprint then -1
          when k.request_fingerprint is null and r.fingerprint is not null
            and not exists (
              select
              from trading.orders as o
              where o.id = k.order_id
                and trading.same_terms(
                  read_replays.requests, r.place, o.market_id, o.side, o.order_type, o.price,
                  o.quantity, o.budget_cents, o.time_in_force, o.post_only, o.expires_at
                )
            ) then -1
          else k.order_id
        end
        order by r.place
      ),
      array_agg(r.twin order by r.place),
      array_agg(r.place) filter (where k.is_old)
    from (
      select
        i as place,
        read_replays.requests.user_id[i] as user_id,
        read_replays.requests.idempotency_key[i] as key,
        read_replays.requests.fingerprint[i] as fingerprint,
        case
          when read_replays.requests.idempotency_key[i] is null
            or read_replays.requests.user_id[i] is null then i
          else min(i) over (
            partition by
              read_replays.requests.user_id[i], read_replays.requests.idempotency_key[i]
          )
        end as twin
      from generate_subscripts(read_replays.requests.user_id, 1) as i
    ) as r
    left join lateral (
      select
        x.order_id, x.request_fingerprint,
        x.created_at <= read_replays.at - trading.key_lifetime() as is_old
      from trading.idempotency_keys as x
      where x.user_id = r.user_id
        and x.key = r.key
      limit 1
    ) as k on true;
end
$$;

comment on function trading.read_replays(trading.requests, timestamptz) is
  'Of each request, replay: the order that its idempotency key stands for, -1 if the key stands '
  'for another request, null without a key or if it is new; and twin: the first request of the '
  'call with the same key of the same user, itself without a key. old_keys: the requests whose '
  'key is there and does not count any more. Read under the traders'' locks, since two calls may '
  'use the same key at once.';
