create or replace function trading.read_context(market_id bigint)
returns trading.market_context
language plpgsql
set search_path = ''
as $$
declare
  v_context trading.market_context;
  v_at timestamptz := core.now();
begin
  select
    m.id,
    m.public_id,
    m.title,
    m.category_id,
    v_at,
    s.trading_paused,
    m.status = 'open' and (m.close_time is null or m.close_time > v_at),
    coalesce(
      (
        select b.book_price
        from trading.open_orders as b
        where b.market_id = read_context.market_id
          and b.book_side = 'yes'
          and b.queue_position is not null
        order by b.book_price desc, b.queue_position
        limit 1
      ),
      0
    ),
    coalesce(
      (
        select b.book_price
        from trading.open_orders as b
        where b.market_id = read_context.market_id
          and b.book_side = 'no'
          and b.queue_position is not null
        order by b.book_price desc, b.queue_position
        limit 1
      ),
      0
    )
  into v_context
  from core.settings as s
  left join catalog.markets as m on m.id = read_context.market_id;

  return v_context;
end
$$;

comment on function trading.read_context(bigint) is
  'What a batch must know of its market and the site; market_id comes back null when there is no '
  'such market. To be called under the market''s lock.';
