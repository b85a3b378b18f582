create or replace function trading.fill_sides()
returns table (
  trade_id bigint,
  market_id bigint,
  created_at timestamptz,
  price int,
  quantity bigint,
  is_taker boolean,
  order_id bigint,
  user_id bigint,
  book_side trading.side,
  amount_cents bigint,
  fee_cents bigint,
  realised_cents bigint
)
language sql stable
begin atomic
  select t.id, t.market_id, t.created_at, t.price::int, t.quantity::bigint, true,
    t.taker_order_id, t.taker_user_id, t.taker_side, t.taker_cents,
    t.fee_cents::bigint, t.taker_realised_cents
  from trading.trades as t
  union all
  select t.id, t.market_id, t.created_at, t.price::int, t.quantity::bigint, false,
    t.maker_order_id, t.maker_user_id,
    case t.taker_side when 'yes' then 'no' else 'yes' end::trading.side,
    t.maker_cents, 0::bigint, t.maker_realised_cents
  from trading.trades as t;
end;

comment on function trading.fill_sides() is
  'Each trade twice, as it is for its taker and for its maker, for ledger.verify(). price is '
  'the YES price; book_side is the stored side of the order; amount_cents is what the trade moved '
  'on the account of its user; only the taker pays a fee.';
