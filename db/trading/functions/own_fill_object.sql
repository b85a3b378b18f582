create or replace function trading.own_fill_object(
  trade trading.trades, user_id bigint, order_id uuid, market_id uuid
)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'id', (trade).public_id,
    'orderId', own_fill_object.order_id,
    'marketId', own_fill_object.market_id,
    'side', case when s.is_of_yes then 'yes' else 'no' end,
    'orderType', case when l.realised_cents is null then 'buy' else 'sell' end,
    'price', case when s.is_of_yes then (trade).price::int else 100 - (trade).price end,
    'quantity', (trade).quantity,
    'liquidity', case when l.is_taker then 'taker' else 'maker' end,
    'feeCents', case when l.is_taker then (trade).fee_cents::bigint else 0 end,
    'cashCents', l.cents,
    'balanceAfter', l.balance_cents,
    'realisedPnl', l.realised_cents,
    'createdAt', core.iso8601((trade).created_at)
  )
  from (
    select
      true as is_taker, (trade).taker_side = 'yes' as is_yes_book,
      (trade).taker_cents as cents, (trade).taker_balance_cents as balance_cents,
      (trade).taker_realised_cents as realised_cents
    where (trade).taker_user_id = own_fill_object.user_id
    union all
    select
      false, (trade).taker_side <> 'yes',
      (trade).maker_cents, (trade).maker_balance_cents, (trade).maker_realised_cents
    where (trade).maker_user_id = own_fill_object.user_id
  ) as l
  -- A sell is stored as a buy of the other side.
  cross join lateral (
    select l.is_yes_book = (l.realised_cents is null) as is_of_yes
  ) as s
$$;

comment on function trading.own_fill_object(trading.trades, bigint, uuid, uuid) is
  'A trade as one of its two users sees it: prices are of the own order''s side, cashCents is what '
  'it moved on the own account with the fee, realisedPnl is null for a buy.';
