create or replace function trading.read_replays(
  requests trading.order_request[], at timestamptz
)
returns trading.order_request[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_requests trading.order_request[] := read_replays.requests;
  v_replay record;
begin
  for v_replay in
    select r.ordinality as place, k.order_id
    from unnest(read_replays.requests) with ordinality as r
    cross join lateral (
      select x.*
      from trading.idempotency_keys as x
      where x.user_id = r.user_id and x.key = r.idempotency_key
      limit 1
    ) as k
    where k.created_at > read_replays.at - interval '24 hours'
  loop
    v_requests[v_replay.place].replay_of_order_id := v_replay.order_id;
  end loop;
  return v_requests;
end
$$;

comment on function trading.read_replays(trading.order_request[], timestamptz) is
  'The requests, each marked with the order its idempotency key stands for already. To be called '
  'with the traders locked: the same key may come in by another market at the same moment.';
