create or replace function trading.read_request_arrays(
  batch trading.matched_batch, slice trading.book_slice, has_keys boolean
)
returns trading.request_arrays
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select (
      array_agg(
        (
          u.trader,
          h.holding,
          2 * h.holding - (r.side = 'yes')::int,
          r.order_type = 'buy',
          r.time_in_force = 'ioc',
          r.post_only,
          r.price,
          r.quantity,
          coalesce(r.quantity, 10000),
          r.budget_cents,
          2 * r.market - (r.book_side = 'yes')::int,
          2 * r.market - (r.book_side = 'no')::int,
          r.book_price,
          100 - r.book_price,
          case r.book_side
            when 'yes' then slice.no_floors[r.market] else slice.yes_floors[r.market]
          end,
          case r.order_type when 'buy' then -r.price else r.price end,
          case r.order_type when 'buy' then 1 else -1 end,
          (c.context).taker_rate_bps,
          case when (c.context).live_delay_ms is not null then trading.scheduled_cost_cents(
            r.order_type, r.price, r.quantity, r.budget_cents, (c.context).taker_rate_bps
          ) end,
          coalesce(r.budget_cents, case when r.is_market then 0 else r.quantity * r.price end),
          r.relieved_cents,
          r.problem is not null,
          trading.request_rejection(
            r, c.context, u.trader is not null, (batch.traders).blocked_by[u.trader]
          )
        )::trading.match_request
      ),
      array_agg(r.market),
      array_agg(u.trader),
      array_agg(2 * h.holding - (r.side = 'yes')::int),
      array_agg(r.order_type = 'buy'),
      array_agg(r.book_side = 'yes'),
      array_agg(r.book_price),
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
    cross join lateral (
      select width_bucket(
        trading.holding_key(r.market, u.trader), (batch.holdings).keys
      ) as holding offset 0
    ) as h
    cross join lateral (select batch.markets[r.market] as context offset 0) as c
  );
end
$$;

comment on function trading.read_request_arrays(
  trading.matched_batch, trading.book_slice, boolean
) is
  'The requests of a batch as matching reads them, once its markets, books, traders and holdings '
  'are read. has_keys: some request has an idempotency key.';
