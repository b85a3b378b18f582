create or replace function trading.read_context(market_id bigint, at timestamptz)
returns setof trading.market_context
language sql stable
begin atomic
  select
    m.id,
    m.public_id,
    m.title,
    m.category_id,
    read_context.at,
    s.trading_paused,
    m.status = 'open' and (m.close_time is null or m.close_time > read_context.at),
    (
      select e.live_delay_ms
      from catalog.events as e
      where e.id = m.event_id
        and e.live
        and (e.starts_at is null or e.starts_at <= read_context.at)
        and (e.ends_at is null or e.ends_at > read_context.at)
    ),
    coalesce(y.book_price, 0),
    coalesce(n.book_price, 0),
    coalesce(y.queue_position, 0),
    coalesce(n.queue_position, 0)
  from core.settings as s
  left join catalog.markets as m on m.id = read_context.market_id
  left join trading.market_state as f on f.market_id = m.id
  left join lateral trading.first_in_book(
    f.market_id, 'yes', f.front_yes_price, f.front_yes_position
  ) as y on true
  left join lateral trading.first_in_book(
    f.market_id, 'no', f.front_no_price, f.front_no_position
  ) as n on true;
end;

comment on function trading.read_context(bigint, timestamptz) is
  'What a batch must know of its market and the site: one row, with a null market_id when there '
  'is no such market. To be called under the market''s lock.';
