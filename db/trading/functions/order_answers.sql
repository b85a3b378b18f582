create or replace function trading.order_answers(
  batch trading.matched_batch, written trading.written_batch
)
returns setof api.result
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at constant text := core.iso8601(batch.at);
  m_public_ids constant uuid[] := (batch.market_arrays).public_ids;
  r_market constant int[] := (batch.request_arrays).markets;
  r_public_ids uuid[];
  t_user_ids constant bigint[] := (batch.traders).user_ids;
  t_public_ids constant uuid[] := (batch.traders).public_ids;
  v_fills text[] := array_fill(null::text, array[cardinality(r_market)]);
  v_cancelled text[] := v_fills;
  v_request int;
  v_object text;
  v_body text;
  o trading.placed_order;
  f trading.placed_order; -- the order that its answer shows
  n int := 0;
begin
  if written.trades is not null then
    r_public_ids := array(select w.public_id from unnest(written.orders) as w);
    for v_request, v_object in
      select
        y.request,
        string_agg(
          trading.fill_object(
            y.public_id, m_public_ids[r_market[y.request]], y.taker_side, r_public_ids[y.request], -- mutant: fill_names_another_market
            y.order_public_id, t_public_ids[width_bucket(y.taker_user_id, t_user_ids)],
            t_public_ids[width_bucket(y.maker_user_id, t_user_ids)], y.price, y.quantity, v_at
          ),
          ',' order by y.id
        )
      from rows from (
        unnest((batch.result).fills), unnest(written.maker_public_ids), unnest(written.trades)
      ) as y (
        request, maker, fill_quantity, fill_fee_cents, order_public_id, id, market_id,
        taker_order_id, maker_order_id, taker_user_id, maker_user_id, taker_cents,
        taker_balance_cents, taker_version, maker_cents, maker_balance_cents, maker_version,
        escrow_balance_cents, escrow_version, revenue_balance_cents, revenue_version,
        taker_realised_cents, maker_realised_cents, fee_cents, fee_schedule_id, created_at,
        public_id, quantity, price, taker_side
      )
      group by y.request
    loop
      v_fills[v_request] := v_object;
    end loop;
  end if;
  if written.cancelled_orders is not null then
    for v_request, v_object in
      select
        c.request,
        string_agg(
          trading.order_object(
            c.public_id, t_public_ids[width_bucket(c.user_id, t_user_ids)],
            m_public_ids[r_market[c.request]], c.side, c.price, c.quantity,
            c.quantity - c.left_quantity, 'cancelled', c.order_type, 'gtc', c.reason,
            c.expires_at, core.iso8601(c.created_at), null
          ),
          ',' order by c.place
        )
      from unnest(written.cancelled_orders) with ordinality as c (
        request, public_id, market_id, user_id, side, order_type, price, quantity, left_quantity,
        reason, expires_at, created_at, place
      )
      group by c.request
    loop
      v_cancelled[v_request] := v_object;
    end loop;
  end if;

  foreach o in array written.orders loop
    n := n + 1;
    if o.code is not null then
      v_body := null;
    elsif o.replayed_order_id is not null then
      v_body := trading.replay_answer(
        o.replayed_order_id, o.left_quantity, o.cancel_reason, o.balance_cents, batch.at
      );
    else
      -- A replay of an order of this call: the answer to its first request, as it stood then.
      f := case when o.replay_of is null then o else written.orders[o.replay_of] end;
      v_body := format(
        '{"order":%s,"fills":[%s],"cancelledOrders":[%s],"balance":%s,"feeCents":%s}',
        trading.order_object(
          f.public_id, f.user_public_id, f.market_public_id, f.side, f.price, o.quantity,
          o.quantity - o.left_quantity, o.status, f.order_type, f.time_in_force,
          o.cancel_reason, f.expires_at, v_at,
          case when f.release_at is not null
            then trading.schedule_members(f.release_at, f.budget_cents, batch.at) end
        ),
        v_fills[coalesce(o.replay_of, n)],
        case when o.replay_of is null then v_cancelled[n] end,
        trading.balance_object(o.balance_cents),
        case when o.replay_of is null then coalesce(o.fee_cents::text, 'null') else 'null' end
      );
    end if;
    return next (
      o.code,
      trading.rejection_message(o.code, o.problem),
      o.replay_of is not null or o.replayed_order_id is not null,
      v_body
    )::api.result;
  end loop;
end
$$;

comment on function trading.order_answers(trading.matched_batch, trading.written_batch) is
  'The answers to a batch, in the order of its requests: a rejection, or the documented body of '
  'POST /orders.';
