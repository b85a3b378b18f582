create or replace function trading.settle_fills(
  context trading.market_context,
  money trading.market_money,
  result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with written as (
    insert into ledger.journals (id, kind, market_id, created_at)
    select f.journal_id, 'trade', context.market_id, context.at
    from unnest(result.fills) as f
  ),
  held as (
    insert into trading.positions as p (
      market_id, user_id, side, quantity, cost_cents, fee_cents, realised_cents, has_traded
    )
    select
      context.market_id,
      result.user_ids[(h.place + 1) / 2],
      case when h.place % 2 = 1 then 'yes' else 'no' end::trading.side,
      h.quantity, h.cost_cents, h.fee_cents, h.realised_cents, true
    from unnest(
      (result.holdings).quantity,
      (result.holdings).cost_cents,
      (result.holdings).fee_cents,
      (result.holdings).realised_cents,
      (result.holdings).touched
    ) with ordinality as h (quantity, cost_cents, fee_cents, realised_cents, touched, place)
    where h.touched
    on conflict (market_id, user_id, side) do update set
      quantity = excluded.quantity,
      cost_cents = excluded.cost_cents,
      fee_cents = excluded.fee_cents,
      realised_cents = excluded.realised_cents,
      has_traded = true
  )
  insert into trading.trades (
    id, public_id, market_id, journal_id, taker_order_id, maker_order_id, taker_user_id,
    maker_user_id, taker_side, price, quantity, fee_cents, fee_schedule_id,
    taker_realised_cents, maker_realised_cents, created_at
  )
  select
    f.trade_id, f.trade_public_id, context.market_id, f.journal_id, f.taker_order_id,
    f.maker_order_id, f.taker_user_id, f.maker_user_id, f.taker_side, f.yes_price, f.quantity,
    f.fee_cents, money.fee_schedule_id, f.taker_realised_cents, f.maker_realised_cents,
    context.at
  from unnest(result.fills) as f;

  perform ledger.post(result.entries, context.at);
end
$$;

comment on function trading.settle_fills(
  trading.market_context, trading.market_money, trading.match_result
) is
  'Writes the trades of a batch with their journals, cash and shares.';
