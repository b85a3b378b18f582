create or replace function api.run_orders(
  orders jsonb,
  atomic boolean default false,
  waits boolean default true,
  skips boolean default false,
  most_makers int default null,
  user_id uuid default null,
  idempotency_key uuid default null,
  request_fingerprint uuid default null,
  payers uuid[] default null
)
returns table (
  code text,
  message text,
  replayed boolean,
  body text,
  market_version bigint,
  retry_after_seconds int,
  requests_per_minute int,
  burst_capacity int,
  remaining bigint
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/plain_nested_loops.sql
as $$
declare
  v_payments rate_limits.payment[];
  v_unpaid uuid[] := '{}'; -- users whose bucket is locked
  v_codes text[]; -- of orders that are not paid for, or behind one of their user
begin
  if run_orders.idempotency_key is not null then
    return query
      select
        k.code, k.message, k.replayed, k.body, null::bigint, null::int, null::int, null::int,
        null::bigint
      from trading.place_keyed_batch(
        run_orders.user_id, run_orders.orders, run_orders.atomic, run_orders.idempotency_key,
        run_orders.request_fingerprint, run_orders.most_makers
      ) as k;
    return;
  end if;
  if run_orders.payers is not null then
    v_payments := rate_limits.spend_tokens(
      run_orders.payers, array_fill(1, array[cardinality(run_orders.payers)])
    );
    for i in 1 .. cardinality(v_payments) loop
      if (v_payments[i]).allowed is null then
        v_unpaid := v_unpaid || run_orders.payers[i];
      end if;
      v_codes := v_codes || case
        when v_unpaid <> '{}' and (run_orders.orders -> (i - 1) ->> 'userId')::uuid = any (v_unpaid)
          then 'AGAIN'
        when not (v_payments[i]).allowed then 'TOO_MANY_REQUESTS'
      end;
    end loop;
  end if;
  return query
    select
      r.code, r.message, r.replayed, r.body, r.market_version, r.retry_after_seconds,
      r.requests_per_minute, r.burst_capacity, r.remaining
    from rows from (
      unnest(
        trading.place_batch(
          run_orders.orders, run_orders.atomic, run_orders.waits, run_orders.skips,
          run_orders.most_makers, v_codes
        )
      ),
      unnest(v_payments)
    ) as r (
      code, message, replayed, body, market_version, allowed, retry_after_seconds,
      requests_per_minute, burst_capacity, remaining
    );
end
$$;

comment on function api.run_orders(
  jsonb, boolean, boolean, boolean, int, uuid, uuid, uuid, uuid[]
) is
  'What servers call for api.place_orders. A row for each order, in their order: code to '
  'market_version as trading.order_answer has them, the others only of an order that was to be '
  'paid for. AGAIN: the order was not placed, and must be placed again. most_makers: the orders '
  'of the call may meet so many in all, and those that do not fit are AGAIN, all of them if they '
  'are one batch; null is any number. '
  'skips: it does not wait for users. Orders of a user who is locked elsewhere are AGAIN, and '
  'all of a market where they could meet such a user. Not for an atomic call. With '
  'idempotency_key, of user_id: one row for the batch, as trading.place_keyed_batch has it. '
  'payers: for each order the user who pays a token for it (rate_limits.spend_tokens), also if it '
  'is rejected or AGAIN; null: it is counted already. Without a token it is TOO_MANY_REQUESTS and '
  'not placed; if the bucket is locked elsewhere it is AGAIN, and remaining is null, since '
  'nothing was paid. Not for an atomic call. Errors after which the call can be made again: '
  '40001, 40P01, 55P03. Locks: the token buckets of the payers, then those of api.place_orders.';
