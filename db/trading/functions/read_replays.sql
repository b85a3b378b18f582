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
      select case
        -- The key of another command, or of an order that was sent otherwise.
        when x.order_id is null or x.request_fingerprint <> r.request_fingerprint then -1 -- mutant: order_of_another_request
        when x.request_fingerprint is null and r.request_fingerprint is not null
          and not trading.is_order_of(x.order_id, r) then -1 -- mutant: key_of_a_body_not_strict
        else x.order_id
      end
      from trading.idempotency_keys as x
      where x.user_id = r.user_id -- mutant: order_of_another_user
        and x.key = r.idempotency_key -- mutant: order_key_ignored
        and x.created_at > read_replays.at - trading.key_lifetime() -- mutant: key_age
    )
    from unnest(read_replays.requests) as r
  );
end
$$;

comment on function trading.read_replays(trading.order_request[], timestamptz) is
  'The order that the idempotency key of each request stands for already, or null; -1 where the '
  'key is of another request, and the request is to be rejected. To be called '
  'with the traders locked: the same key may come in by another market at the same moment.';
