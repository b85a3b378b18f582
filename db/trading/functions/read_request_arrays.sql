create or replace function trading.read_request_arrays(
  batch trading.matched_batch, has_keys boolean
)
returns trading.request_arrays
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select (
      array_agg(r.market),
      array_agg(u.trader),
      array_agg(width_bucket(trading.holding_key(r.market, u.trader), (batch.holdings).keys)),
      array_agg(r.order_type = 'buy'),
      array_agg(r.side = 'yes'),
      array_agg(r.book_side = 'yes'),
      array_agg(r.book_price),
      array_agg(r.price),
      array_agg(r.quantity),
      array_agg(r.budget_cents),
      array_agg(r.time_in_force = 'ioc'),
      array_agg(r.post_only),
      array_agg(r.is_market),
      array_agg(r.problem is not null),
      array_agg(r.relieved_cents),
      array_agg(
        trading.request_rejection(
          r, c.context, u.trader is not null, (batch.traders).blocked_by[u.trader]
        )
      ),
      case when has_keys then array(
        select case when q.idempotency_key is null or q.user_id is null then q.ordinality
          else min(q.ordinality) over (partition by q.user_id, q.idempotency_key)
        end::int
        from unnest(batch.requests) with ordinality as q
        order by q.ordinality
      ) end
    )::trading.request_arrays
    from unnest(batch.requests) as r
    cross join lateral (
      select width_bucket(r.user_id, (batch.traders).user_ids) as trader offset 0
    ) as u
    cross join lateral (select batch.markets[r.market] as context offset 0) as c
  );
end
$$;

comment on function trading.read_request_arrays(trading.matched_batch, boolean) is
  'The requests of a batch as matching reads them, once its markets, traders and holdings are '
  'read. has_keys: some request has an idempotency key.';
