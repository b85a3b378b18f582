create or replace function trading.cancel_open_orders(
  market_id bigint,
  order_ids bigint[],
  reason trading.cancel_reason,
  at timestamptz,
  announced boolean
)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_left trading.level_change[];
  v_version bigint;
  v_count int := 0;
  v_row record;
begin
  for v_row in
    with gone as (
      delete from trading.open_orders as b
      where b.order_id = any (cancel_open_orders.order_ids)
        and b.market_id = cancel_open_orders.market_id
      returning b.*
    ),
    cancelled as (
      update trading.orders as o set
        status = 'cancelled',
        cancel_reason = cancel_open_orders.reason,
        cancelled_at = cancel_open_orders.at
      from gone
      where o.id = gone.order_id
      returning o.*, gone.book_side, gone.book_price, gone.queue_position
    )
    select c.*, m.public_id as market_public_id, m.title, u.public_id as user_public_id
    from cancelled as c
    join catalog.markets as m on m.id = c.market_id
    join identity.users as u on u.id = c.user_id
    order by c.id
  loop
    v_count := v_count + 1;
    if v_row.queue_position is not null then
      v_left[v_count] := (
        v_row.book_side, v_row.book_price, v_row.quantity - v_row.filled_quantity, 1
      )::trading.level_change;
    end if;
    if cancel_open_orders.announced then
      perform trading.announce_user(
        v_row.user_public_id,
        json_build_object(
          'type', 'order_cancelled',
          'orderId', v_row.public_id,
          'marketId', v_row.market_public_id,
          'marketTitle', v_row.title,
          'side', v_row.side,
          'price', v_row.price,
          'quantity', v_row.quantity,
          'filledQuantity', v_row.filled_quantity,
          'cancelReason', v_row.cancel_reason
        )
      );
    end if;
  end loop;

  if v_count > 0 then
    update trading.book_levels as l set
      quantity = l.quantity - c.quantity,
      order_count = l.order_count - c.order_count
    from (
      select u.book_side, u.book_price, sum(u.quantity), sum(u.order_count)
      from unnest(v_left) as u
      where u.book_side is not null
      group by u.book_side, u.book_price
    ) as c (book_side, book_price, quantity, order_count)
    where l.market_id = cancel_open_orders.market_id
      and l.book_side = c.book_side
      and l.book_price = c.book_price;
    update trading.books as b
    set version = b.version + 1
    where b.market_id = cancel_open_orders.market_id
    returning b.version into v_version;
    perform trading.announce_market(v_row.market_public_id, v_version);
  end if;
  return v_count;
end
$$;

comment on function trading.cancel_open_orders(
  bigint, bigint[], trading.cancel_reason, timestamptz, boolean
) is
  'Takes open orders of one market off the book, or out of their delay, for one reason; returns '
  'how many were still there. announced: tell the owners, who did not ask for it. The caller '
  'holds the market''s lock. One change of the market, however many orders.';
