-- The rules are those of trading.match_orders, by the same functions where they are more than an
-- addition; the property tests hold the two ways together. This one takes half the time.
create or replace function trading.fill_order(
  request trading.order_request, context trading.market_context, maker trading.resting_order
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_buy constant boolean := request.order_type = 'buy';
  n constant int := request.quantity;
  v_money trading.market_money;
  v_traders trading.trader_arrays;
  v_holdings trading.holding_arrays;
  v_limits trading.limit_arrays;
  v_fill trading.fill;
  v_entries ledger.entry[];
  v_code text;
  v_price int;
  t int;
  m int;
  h int;
  g int;
  v_fee bigint;
  v_cash bigint;
  v_cost_out bigint := 0;
  v_fees_out bigint := 0;
  v_maker_cash bigint;
  v_maker_cost_out bigint := 0;
  v_maker_fees_out bigint := 0;
  v_escrow_amount bigint;
  v_at text := core.iso8601(context.at);
begin
  v_traders := trading.lock_traders(array[request], (array[maker], 0, 0, null), context.at);
  t := array_position(v_traders.user_ids, request.user_id);
  m := array_position(v_traders.user_ids, maker.user_id);
  v_code := trading.request_rejection(
    request, context, t is not null, v_traders.blocked_by[t]
  );
  if v_code is not null then
    return (v_code, trading.rejection_message(v_code, request), false, null)::api.result;
  end if;

  select x.* into v_money
  from trading.read_money(context.market_id, context.category_id, context.at) as x;
  select x.* into v_holdings
  from trading.read_holdings(context.market_id, v_traders.user_ids) as x;
  if true = any (v_traders.limited) then
    v_limits := trading.read_limits(
      v_traders.user_ids, array[request.user_id], context.at
    );
  end if;
  h := case request.side when 'yes' then 1 else 2 end;
  g := case maker.side when 'yes' then 1 else 2 end;
  v_price := 100 - maker.book_price;
  v_fee := trading.fee_cents(v_money.taker_rate_bps, n * v_price * maker.book_price);

  if v_traders.excluded[m]
    or (case maker.order_type
      when 'sell' then v_holdings.quantity[m][g] < n
      else v_traders.balance_cents[m] < n * maker.book_price
        or risk.exceeds_limits(
          v_limits.limits[m], v_limits.untraded[m], v_traders.balance_cents[m],
          n * maker.book_price
        )
    end)
  then
    return null; -- the maker is dead
  end if;
  v_code := trading.funding_rejection(
    request, n * v_price + v_fee, n * v_price + v_fee, v_traders.balance_cents[t],
    v_holdings.quantity[t][h], v_limits.limits[t], v_limits.untraded[t],
    v_limits.open_cost_cents[t]
  );
  if v_code is not null then
    return (v_code, null, false, null)::api.result;
  end if;

  -- What it moves: cash, and what leaves the positions with the shares that are sold.
  if v_is_buy then
    v_cash := -(n * v_price) - v_fee;
  else
    v_cash := n * maker.book_price - v_fee;
    v_cost_out := core.half_up(v_holdings.cost_cents[t][h] * n, v_holdings.quantity[t][h]);
    v_fees_out := core.half_up(v_holdings.fee_cents[t][h] * n, v_holdings.quantity[t][h]);
    v_fill.taker_realised_cents := v_cash - v_cost_out - v_fees_out;
  end if;
  if maker.order_type = 'buy' then
    v_maker_cash := -(n * maker.book_price);
  else
    v_maker_cash := n * v_price;
    v_maker_cost_out := core.half_up(v_holdings.cost_cents[m][g] * n, v_holdings.quantity[m][g]);
    v_maker_fees_out := core.half_up(v_holdings.fee_cents[m][g] * n, v_holdings.quantity[m][g]);
    v_fill.maker_realised_cents := v_maker_cash - v_maker_cost_out - v_maker_fees_out;
  end if;
  v_escrow_amount := -(v_cash + v_fee) - v_maker_cash;

  v_fill.trade_id := nextval('trading.trades_id_seq');
  v_fill.trade_public_id := core.uuid_v7();
  v_fill.journal_id := nextval('ledger.journals_id_seq');
  v_fill.taker_order_id := nextval('trading.orders_id_seq');
  v_fill.taker_order_public_id := core.uuid_v7();
  v_fill.yes_price := case maker.book_side when 'yes' then maker.book_price else v_price end;

  with placed as (
    insert into trading.orders (
      id, public_id, market_id, user_id, side, order_type, price, quantity, filled_quantity,
      time_in_force, post_only, status, fee_cents, created_at, expires_at
    )
    values (
      v_fill.taker_order_id, v_fill.taker_order_public_id, context.market_id, request.user_id,
      request.side, request.order_type, request.price, n, n, request.time_in_force, false,
      'filled', v_fee, context.at, request.expires_at
    )
  ),
  met as (
    update trading.orders as o set
      filled_quantity = o.filled_quantity + n,
      status = trading.filled_status(o.quantity - o.filled_quantity - n, o.quantity)
    where o.id = maker.order_id
  ),
  left_book as (
    delete from trading.active_orders as b
    where b.order_id = maker.order_id
      and n = maker.quantity - maker.filled_quantity
  ),
  thinned as (
    update trading.book_levels as l set
      quantity = l.quantity - n,
      order_count = l.order_count
        - case when n = maker.quantity - maker.filled_quantity then 1 else 0 end
    where l.market_id = context.market_id
      and l.book_price = maker.book_price
      and l.book_side = maker.book_side
  ),
  written as (
    insert into ledger.journals (id, kind, market_id, created_at)
    values (v_fill.journal_id, 'trade', context.market_id, context.at)
  ),
  held as (
    insert into trading.positions as p (
      market_id, user_id, side, quantity, cost_cents, fee_cents, realised_cents, has_traded
    )
    values
      (
        context.market_id, request.user_id, request.side,
        v_holdings.quantity[t][h] + case when v_is_buy then n else -n end,
        v_holdings.cost_cents[t][h] + case when v_is_buy then n * v_price else -v_cost_out end,
        v_holdings.fee_cents[t][h] + case when v_is_buy then v_fee else -v_fees_out end,
        v_holdings.realised_cents[t][h] + coalesce(v_fill.taker_realised_cents, 0),
        true
      ),
      (
        context.market_id, maker.user_id, maker.side,
        v_holdings.quantity[m][g] + case maker.order_type when 'buy' then n else -n end,
        v_holdings.cost_cents[m][g]
          + case maker.order_type when 'buy' then -v_maker_cash else -v_maker_cost_out end,
        v_holdings.fee_cents[m][g] - v_maker_fees_out,
        v_holdings.realised_cents[m][g] + coalesce(v_fill.maker_realised_cents, 0),
        true
      )
    on conflict (market_id, user_id, side) do update set
      quantity = excluded.quantity,
      cost_cents = excluded.cost_cents,
      fee_cents = excluded.fee_cents,
      realised_cents = excluded.realised_cents,
      has_traded = true
  ),
  traded as (
    insert into trading.trades (
      id, public_id, market_id, journal_id, taker_order_id, maker_order_id, taker_user_id,
      maker_user_id, taker_side, price, quantity, fee_cents, fee_schedule_id,
      taker_realised_cents, maker_realised_cents, created_at
    )
    values (
      v_fill.trade_id, v_fill.trade_public_id, context.market_id, v_fill.journal_id,
      v_fill.taker_order_id, maker.order_id, request.user_id, maker.user_id,
      request.book_side, v_fill.yes_price, n, v_fee, v_money.fee_schedule_id,
      v_fill.taker_realised_cents, v_fill.maker_realised_cents, context.at
    )
  ),
  changed as (
    update trading.market_state as b set
      version = b.version + 1,
      placed_count = b.placed_count + 1,
      placed_id_sum = b.placed_id_sum + v_fill.taker_order_id,
      last_trade_price = v_fill.yes_price,
      yes_volume_cents = b.yes_volume_cents + n * v_fill.yes_price,
      no_volume_cents = b.no_volume_cents + n * (100 - v_fill.yes_price),
      trade_count = b.trade_count + 1,
      traders_count = b.traders_count
        + case when v_holdings.has_traded[t] then 0 else 1 end
        + case when v_holdings.has_traded[m] then 0 else 1 end,
      front_yes_price = context.best_yes,
      front_yes_position = context.first_yes_position,
      front_no_price = context.best_no,
      front_no_position = context.first_no_position
    where b.market_id = context.market_id
    returning b.version
  )
  insert into trading.outbox (channel, payload)
  select 'market_changed', json_build_object(
    'marketId', context.market_public_id, 'version', c.version
  )
  from changed as c
  union all
  select 'user_event', json_build_object(
    'userId', v_traders.user_public_ids[m],
    'event', json_build_object(
      'type', 'maker_fill',
      'marketId', context.market_public_id,
      'orderIds', array[maker.order_public_id],
      'fillCount', 1
    )
  );

  if v_cash <> 0 then
    v_entries := array[(
      v_fill.journal_id, v_traders.account_ids[t], v_cash, v_traders.balance_cents[t],
      v_traders.balance_cents[t] + v_cash, v_traders.account_versions[t] + 1
    )::ledger.entry];
  end if;
  v_entries := v_entries || (
    v_fill.journal_id, v_traders.account_ids[m], v_maker_cash, v_traders.balance_cents[m],
    v_traders.balance_cents[m] + v_maker_cash, v_traders.account_versions[m] + 1
  )::ledger.entry;
  if v_escrow_amount <> 0 then
    v_entries := v_entries || (
      v_fill.journal_id, v_money.escrow_account_id, v_escrow_amount, v_money.escrow_cents,
      v_money.escrow_cents + v_escrow_amount, v_money.escrow_version + 1
    )::ledger.entry;
  end if;
  if v_fee > 0 then
    v_entries := v_entries || (
      v_fill.journal_id, v_money.revenue_account_id, v_fee, v_money.revenue_cents,
      v_money.revenue_cents + v_fee, v_money.revenue_version + 1
    )::ledger.entry;
  end if;
  perform ledger.post(v_entries, context.at);

  return (
    null, null, false,
    format(
      '{"order":%s,"fills":[%s],"cancelledOrders":[],"balance":%s,"feeCents":%s}',
      trading.order_object(
        v_fill.taker_order_public_id, v_traders.user_public_ids[t], context.market_public_id,
        request.side, request.price, n, n, 'filled', request.order_type, request.time_in_force,
        null, request.expires_at, v_at, null
      ),
      trading.fill_object(
        v_fill.trade_public_id, context.market_public_id, request.book_side,
        v_fill.taker_order_public_id, maker.order_public_id, v_traders.user_public_ids[t],
        v_traders.user_public_ids[m], v_fill.yes_price, n, v_at
      ),
      trading.balance_object(v_traders.balance_cents[t] + v_cash),
      v_fee
    )
  )::api.result;
end
$$;

comment on function trading.fill_order(
  trading.order_request, trading.market_context, trading.resting_order
) is
  'The short way of a lone order that its one maker fills whole (trading.sole_maker): it is '
  'refused, or filled. The answer is that of api.place_orders; null when the maker turns out dead: '
  'nothing is done then. The caller holds the market''s lock; locks the two users, by ascending '
  'account.';
