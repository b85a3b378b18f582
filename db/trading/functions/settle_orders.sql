create or replace function trading.settle_orders(
  context trading.market_context,
  money trading.market_money,
  result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if result.fills is not null or result.cancelled_makers is not null then
    perform trading.settle_makers(context, result);
  end if;

  with placed as (
    insert into trading.orders (
      id, public_id, market_id, user_id, side, order_type, price, quantity, filled_quantity,
      budget_cents, time_in_force, post_only, status, cancel_reason, fee_cents, created_at,
      expires_at, cancelled_at
    )
    select
      o.order_id, o.order_public_id, context.market_id, (o.request).user_id, (o.request).side,
      (o.request).order_type, (o.request).price, o.quantity, o.end_filled_quantity,
      (o.request).budget_cents, (o.request).time_in_force, (o.request).post_only, o.end_status,
      o.end_cancel_reason, o.fee_cents, context.at, (o.request).expires_at,
      case when o.end_status = 'cancelled' then context.at end
    from unnest(result.outcomes) as o
    where o.code is null
      and o.is_replay is null
      and (o.request).order_id is null
    returning id
  ),
  rested as (
    insert into trading.active_orders (
      order_id, market_id, user_id, book_side, book_price, queue_position, expires_at
    )
    select
      r.order_id, context.market_id, r.user_id, r.book_side, r.book_price,
      r.queue_position, r.expires_at
    from unnest(result.resting) with ordinality as r
    where r.ordinality > result.resting_read
      and result.resting_left[r.ordinality] > 0
    returning book_side, book_price
  ),
  deepened as (
    update trading.book_levels as l set
      quantity = l.quantity + c.quantity,
      order_count = l.order_count + c.order_count
    from trading.level_changes(result.resting, result.resting_left, result.resting_read) as c
    where l.market_id = context.market_id
      and l.book_price = c.book_price
      and l.book_side = c.book_side
  ),
  changed as (
    update trading.market_state as b set
      version = b.version + result.changes,
      placed_count = b.placed_count + p.order_count,
      placed_id_sum = b.placed_id_sum + p.id_sum,
      last_trade_price = coalesce(result.last_trade_price, b.last_trade_price),
      yes_volume_cents = b.yes_volume_cents + result.yes_volume_cents,
      no_volume_cents = b.no_volume_cents + result.no_volume_cents,
      trade_count = b.trade_count + coalesce(cardinality(result.fills), 0),
      traders_count = b.traders_count + result.new_traders,
      front_yes_price = greatest(context.best_yes, r.best_yes),
      front_yes_position = case
        when r.best_yes > context.best_yes then 0 else context.first_yes_position
      end,
      front_no_price = greatest(context.best_no, r.best_no),
      front_no_position = case
        when r.best_no > context.best_no then 0 else context.first_no_position
      end
    from (
      select
        max(x.book_price) filter (where x.book_side = 'yes') as best_yes,
        max(x.book_price) filter (where x.book_side = 'no') as best_no
      from rested as x
    ) as r
    cross join (
      select count(*) as order_count, coalesce(sum(x.id), 0)::bigint as id_sum
      from placed as x
    ) as p
    where b.market_id = context.market_id
    returning b.version
  )
  insert into trading.outbox (channel, payload)
  select 'market_changed', json_build_object(
    'marketId', context.market_public_id, 'version', c.version
  )
  from changed as c;

  if result.fills is not null then
    perform trading.settle_fills(context, money, result);
  end if;
end
$$;

comment on function trading.settle_orders(
  trading.market_context, trading.market_money, trading.match_result
) is
  'Writes what a batch came to, each table as one set, and announces the market''s new version. '
  'The rows of released orders are trading.settle_released''s.';
