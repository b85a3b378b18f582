create or replace function trading.write_plain_fill(
  request trading.order_request,
  at timestamptz,
  order_id bigint,
  public_id uuid,
  market trading.market_state,
  maker trading.active_orders,
  taker trading.traders,
  owner trading.traders,
  fee_schedule_id bigint,
  fee_cents bigint
)
returns text
language plpgsql volatile
as $$
declare
  r constant trading.order_request := write_plain_fill.request;
  v_is_yes constant boolean := r.side = 'yes';
  v_quantity constant int := r.quantity;
  v_time_in_force constant trading.time_in_force := coalesce(r."timeInForce", 'gtc');
  v_yes_price constant int := case when v_is_yes then 100 - maker.book_price
    else maker.book_price end;
  v_taker_cents constant bigint :=
    -(v_quantity * (100 - maker.book_price)) - write_plain_fill.fee_cents;
  v_maker_cents constant bigint := -(v_quantity * maker.book_price);
  v_place constant int := trading.depth_place(maker.book_side, maker.book_price);
  v_takes_all constant boolean := maker.left_quantity = v_quantity;
  v_book constant trading.market_state := trading.changed_book(
    market, array[v_place], array[-v_quantity::bigint],
    array[case when not v_takes_all then maker.queue_position end],
    array[case when v_takes_all then maker.queue_position end]
  );
  v_trade_id constant bigint := nextval('ledger.journal_ids');
  v_trade_public_id constant uuid := core.uuid_v7();
begin
  with smaller as (
    update trading.active_orders as a
    set left_quantity = a.left_quantity - v_quantity
    where a.order_id = maker.order_id
      and not v_takes_all
  ),
  gone as (
    delete from trading.active_orders as a
    where a.order_id = maker.order_id
      and v_takes_all
  ),
  ended as (
    insert into trading.ended_orders (
      market_id, user_id, id, public_id, created_at, ended_at, quantity, filled_quantity,
      fee_cents, price, side, order_type, time_in_force, status, post_only, expires_at,
      release_at, released_at
    )
    select
      market.market_id, taker.user_id, write_plain_fill.order_id, write_plain_fill.public_id,
      write_plain_fill.at, write_plain_fill.at, v_quantity, v_quantity,
      write_plain_fill.fee_cents, r.price, r.side, 'buy'::trading.order_type, v_time_in_force,
      'filled'::trading.order_status, coalesce(r."postOnly", false), r."expiresAt", null, null
    union all
    select
      market.market_id, owner.user_id, maker.order_id, maker.order_public_id, maker.created_at,
      write_plain_fill.at, maker.quantity, maker.quantity, maker.fee_cents, maker.price,
      maker.side, 'buy', maker.time_in_force, 'filled', maker.post_only, maker.expires_at,
      maker.release_at, maker.released_at
    where v_takes_all
  ),
  traded as (
    insert into trading.trades (
      id, market_id, taker_order_id, maker_order_id, taker_user_id, maker_user_id, taker_cents,
      taker_balance_cents, taker_version, maker_cents, maker_balance_cents, maker_version,
      escrow_balance_cents, escrow_version, revenue_balance_cents, revenue_version, fee_cents,
      fee_schedule_id, created_at, public_id, quantity, price, taker_side
    )
    values (
      v_trade_id, market.market_id, write_plain_fill.order_id, maker.order_id, taker.user_id,
      owner.user_id, v_taker_cents, taker.balance_cents + v_taker_cents,
      taker.account_version + 1, v_maker_cents, owner.balance_cents + v_maker_cents,
      owner.account_version + 1, market.escrow_cents + 100 * v_quantity,
      market.escrow_version + 1, market.revenue_cents + write_plain_fill.fee_cents,
      market.revenue_version + (write_plain_fill.fee_cents > 0)::int,
      write_plain_fill.fee_cents, write_plain_fill.fee_schedule_id, write_plain_fill.at,
      v_trade_public_id, v_quantity, v_yes_price, r.side
    )
  ),
  held as (
    insert into trading.holdings as h (
      market_id, user_id, yes_public_id, yes_quantity, yes_cost_cents, yes_fee_cents, yes_traded,
      no_public_id, no_quantity, no_cost_cents, no_fee_cents, no_traded
    )
    select
      market.market_id, n.user_id,
      case when n.is_yes then core.uuid_v7() end, s.yes * v_quantity, s.yes * n.cost_cents,
      s.yes * n.fee_cents, n.is_yes,
      case when not n.is_yes then core.uuid_v7() end, s.no * v_quantity, s.no * n.cost_cents,
      s.no * n.fee_cents, not n.is_yes
    from (
      values
        (
          taker.user_id, v_is_yes, -v_taker_cents - write_plain_fill.fee_cents,
          write_plain_fill.fee_cents
        ),
        (owner.user_id, not v_is_yes, -v_maker_cents, 0)
    ) as n (user_id, is_yes, cost_cents, fee_cents)
    cross join lateral (select n.is_yes::int, (not n.is_yes)::int) as s (yes, no)
    on conflict (market_id, user_id) do update set
      yes_public_id = coalesce(h.yes_public_id, excluded.yes_public_id),
      yes_quantity = h.yes_quantity + excluded.yes_quantity,
      yes_cost_cents = h.yes_cost_cents + excluded.yes_cost_cents,
      yes_fee_cents = h.yes_fee_cents + excluded.yes_fee_cents,
      yes_traded = h.yes_traded or excluded.yes_traded,
      no_public_id = coalesce(h.no_public_id, excluded.no_public_id),
      no_quantity = h.no_quantity + excluded.no_quantity,
      no_cost_cents = h.no_cost_cents + excluded.no_cost_cents,
      no_fee_cents = h.no_fee_cents + excluded.no_fee_cents,
      no_traded = h.no_traded or excluded.no_traded
  ),
  moved as (
    update trading.traders as t set
      balance_cents = t.balance_cents
        + case t.user_id when taker.user_id then v_taker_cents else v_maker_cents end,
      account_version = t.account_version + 1,
      overdraft_cents = 0 -- trading.is_plain_trader: neither ends below 0
    where t.user_id = any (array[taker.user_id, owner.user_id])
  ),
  told as (
    insert into trading.outbox (channel, user_id, payload, trade_ids, traded_at)
    values
      (
        'market_changed', null,
        trading.market_change_object(r."marketId", market.version + 1)::json,
        array[v_trade_id], write_plain_fill.at
      ),
      (
        'user_event', owner.user_id,
        trading.maker_fill_object(
          owner.public_id, r."marketId", maker.order_public_id::text, 1
        )::json,
        null, null
      )
  )
  update trading.market_state as s set
    version = s.version + 1,
    placed_count = s.placed_count + 1,
    placed_id_sum = s.placed_id_sum + write_plain_fill.order_id,
    last_trade_price = v_yes_price,
    yes_volume_cents = s.yes_volume_cents + v_quantity * v_yes_price,
    no_volume_cents = s.no_volume_cents + v_quantity * (100 - v_yes_price),
    trade_count = s.trade_count + 1,
    -- The rows of before: those that this statement adds are not visible to it.
    traders_count = s.traders_count + 2 - (
      select count(*)
      from trading.holdings as h
      where h.market_id = market.market_id
        and h.user_id = any (array[taker.user_id, owner.user_id])
        and (h.yes_traded or h.no_traded)
    ),
    escrow_cents = s.escrow_cents + 100 * v_quantity,
    escrow_version = s.escrow_version + 1,
    revenue_cents = s.revenue_cents + write_plain_fill.fee_cents,
    revenue_version = s.revenue_version + (write_plain_fill.fee_cents > 0)::int,
    depth = v_book.depth,
    best_yes_price = v_book.best_yes_price,
    first_yes_position = v_book.first_yes_position,
    best_no_price = v_book.best_no_price,
    first_no_position = v_book.first_no_position
  where s.market_id = market.market_id;
  return trading.fill_object(
    v_trade_public_id, r."marketId", r.side, write_plain_fill.public_id, maker.order_public_id,
    r."userId", owner.public_id, v_yes_price, r.quantity, core.iso8601(write_plain_fill.at)
  );
end
$$;

comment on function trading.write_plain_fill(
  trading.order_request, timestamptz, bigint, uuid, trading.market_state, trading.active_orders,
  trading.traders, trading.traders, bigint, bigint
) is
  'Writes an order that is filled as a whole by one maker (trading.place_plain_order): both '
  'orders, the trade, shares and cash of both users, the market and the events. Both buy, so each '
  'share is a new pair in escrow. Returns the fill as the answer shows it.';
