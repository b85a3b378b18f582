create or replace function trading.read_replays(
  requests trading.order_request[], at timestamptz
)
returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select (
      select x.order_id
      from trading.idempotency_keys as x
      where x.user_id = r.user_id
        and x.key = r.idempotency_key
        and x.created_at > read_replays.at - interval '24 hours' -- mutant: key_age
    )
    from unnest(read_replays.requests) as r
  );
end
$$;

comment on function trading.read_replays(trading.order_request[], timestamptz) is
  'The order that the idempotency key of each request stands for already, or null. To be called '
  'with the traders locked: the same key may come in by another market at the same moment.';
