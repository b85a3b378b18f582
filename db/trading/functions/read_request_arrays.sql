-- A batch of one is laid out by expressions alone, which take a tenth of the query's time.
create or replace function trading.read_request_arrays(
  batch trading.matched_batch, slice trading.book_slice, has_keys boolean
)
returns trading.request_arrays
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_request trading.order_request;
  v_laid_out trading.match_request;
  v_trader int;
begin
  if cardinality(batch.requests) = 1 then
    v_request := batch.requests[1];
    v_trader := width_bucket(v_request.user_id, (batch.traders).user_ids);
    v_laid_out := trading.match_request(
      v_request, batch.markets[v_request.market], slice, v_trader,
      width_bucket(
        trading.holding_key(v_request.market, v_trader), (batch.holdings).keys
      ),
      trading.request_blocked_by(batch.traders, v_trader, v_request.order_id)
    );
    return (
      array[v_laid_out], array[v_request.market], array[v_trader], array[v_laid_out.shares],
      array[v_laid_out.is_buy], array[v_request.book_side = 'yes'], array[v_request.book_price],
      case when has_keys then array[1] end
    )::trading.request_arrays;
  end if;

  return (
    select (
      array_agg(
        trading.match_request(
          r, c.context, slice, u.trader, h.holding,
          trading.request_blocked_by(batch.traders, u.trader, r.order_id)
        )
      ),
      array_agg(r.market),
      array_agg(u.trader),
      array_agg(2 * h.holding - (r.side = 'yes')::int),
      array_agg(r.order_type = 'buy'),
      array_agg(r.book_side = 'yes'),
      array_agg(r.book_price),
      case when has_keys then array(
        select case when q.idempotency_key is null or q.user_id is null then q.ordinality
          else min(q.ordinality) over (partition by q.user_id, q.idempotency_key) -- mutant: key_of_everybody
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
    cross join lateral (select batch.markets[r.market] as context offset 0) as c -- mutant: fee_of_another_market
  );
end
$$;

comment on function trading.read_request_arrays(
  trading.matched_batch, trading.book_slice, boolean
) is
  'The requests of a batch as matching reads them, once its markets, books, traders and holdings '
  'are read. has_keys: some request has an idempotency key.';
