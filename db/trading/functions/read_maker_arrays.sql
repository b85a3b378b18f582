create or replace function trading.read_maker_arrays(batch trading.matched_batch)
returns trading.maker_arrays
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select (
      array_agg(k.order_id),
      array_agg(2 * k.market - (k.book_side = 'yes')::int),
      array_agg(u.trader),
      -- A seller sells the other side than the one that the order is stored on.
      array_agg(
        2 * width_bucket(trading.holding_key(k.market, u.trader), (batch.holdings).keys)
        - ((k.book_side = 'yes') = (k.order_type = 'buy'))::int
      ),
      array_agg(k.order_type = 'buy'),
      array_agg(k.book_price),
      array_agg(case k.order_type when 'buy' then -k.book_price else 100 - k.book_price end),
      array_agg(case k.order_type when 'buy' then 1 else -1 end),
      array_agg(k.left_quantity),
      array_agg(case
        when k.has_expired then 'expired'
        when k.order_id <= (batch.traders).stopped_order_ids[u.trader] then 'user_cancelled' -- mutant: stopped_order_trades
      end::trading.cancel_reason)
    )::trading.maker_arrays
    from unnest(batch.makers) as k
    cross join lateral (
      select width_bucket(k.user_id, (batch.traders).user_ids) as trader offset 0
    ) as u
  );
end
$$;

comment on function trading.read_maker_arrays(trading.matched_batch) is
  'The makers of a batch as matching reads them, once its traders and holdings are read.';
