create or replace function trading.cancelled_orders(
  batch trading.matched_batch, written trading.written_batch
)
returns table (
  maker int, public_id uuid, market_id bigint, user_id bigint, side trading.side,
  order_type trading.order_type, price int, quantity int, expires_at timestamptz,
  created_at timestamptz
)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select
    c.maker, o.public_id, o.market_id, o.user_id, o.side, o.order_type, o.price, o.quantity,
    o.expires_at, o.created_at
  from unnest((batch.result).cancelled_makers) as c
  join unnest(written.cancelled_orders) as o
    on o.id = (batch.maker_arrays).order_ids[c.maker]
  union all
  select
    c.maker, written.order_public_ids[x.place], r.market_id, r.user_id, r.side, r.order_type,
    r.price, u.quantity, r.expires_at, batch.at
  from unnest((batch.result).cancelled_makers) as c
  cross join lateral (
    select (batch.result).rested[c.maker - cardinality(batch.makers)] as place
  ) as x
  cross join lateral (
    select (batch.requests[x.place]).*
  ) as r
  cross join lateral (select ((batch.result).results[x.place]).quantity) as u
  where c.maker > cardinality(batch.makers)
$$;

comment on function trading.cancelled_orders(trading.matched_batch, trading.written_batch) is
  'The makers that a batch cancelled, of the book or of the batch itself.';
