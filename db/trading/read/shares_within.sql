create or replace function trading.shares_within(
  market_id bigint, is_yes boolean, worst_price int, at timestamptz
)
returns bigint
language plpgsql stable
as $$
begin
  return (
    select (
      (
        select coalesce(sum(d.quantity), 0)
        from unnest(
          case when shares_within.is_yes
            then s.depth[shares_within.worst_price : 99]
            else s.depth[99 + shares_within.worst_price : 198]
          end
        ) as d (quantity)
      ) - (
        select coalesce(sum(e.left_quantity), 0)
        from trading.active_orders as e
        where e.expires_at <= shares_within.at
          and e.market_id = shares_within.market_id
          and e.queue_position is not null
          and (e.book_side = 'yes') = shares_within.is_yes
          and e.book_price >= shares_within.worst_price
      )
    )::bigint
    from trading.market_state as s
    where s.market_id = shares_within.market_id
  );
end
$$;

comment on function trading.shares_within(bigint, boolean, int, timestamptz) is
  'The shares on one side of a book at this price and better, without those of orders past '
  'their expiry. Cost: the depth of the market, and the orders of the exchange past their '
  'expiry, which a worker cancels within a moment.';
