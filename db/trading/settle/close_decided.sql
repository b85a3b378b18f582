create or replace function trading.close_decided(market_id bigint, yes_payout_cents int)
returns jsonb
language plpgsql
as $$
declare
  -- Beyond this, traders would wait too long for the markets.
  c_most_orders constant int := 1000;
  v_at constant timestamptz := core.now();
  v_left int := c_most_orders;
  v_market record;
  v_order_count int;
  v_close_time timestamptz;
  v_closed jsonb := '[]'::jsonb;
begin
  for v_market in
    select m.id, m.public_id
    from trading.payouts_of_others as o
    join catalog.markets as m on m.event_id = o.event_id and m.id <> o.market_id
    where o.market_id = close_decided.market_id
      and o.yes_payout_cents + close_decided.yes_payout_cents >= 100
      and m.status in ('open', 'paused')
    order by m.id
  loop
    v_order_count := cardinality(trading.active_orders_of_market(v_market.id, v_left + 1));
    if v_order_count <= v_left then
      perform trading.change_market_status(v_market.id, 'closed');
      v_left := v_left - v_order_count;
      v_close_time := null;
    else
      -- From now on it takes no orders. It is due, so a job ends its orders in steps.
      update catalog.markets as m set
        open_time = null,
        close_time = least(m.close_time, v_at)
      where m.id = v_market.id
      returning m.close_time into strict v_close_time;
    end if;
    v_closed := v_closed || jsonb_build_object(
      'marketId', v_market.public_id, 'closeTime', v_close_time
    );
  end loop;
  return case v_closed when '[]' then '{}' else jsonb_build_object('closedMarkets', v_closed) end;
end
$$;

comment on function trading.close_decided(bigint, int) is
  'Closes the other markets of the exclusive event of a market whose YES shares are to pay so many '
  'cents, if that leaves them nothing; returns {closedMarkets: [{marketId, closeTime}]}, or {} '
  'for none. Cancels 1,000 orders at most: a market with more than are left of these takes no '
  'orders from closeTime on, and jobs.close_markets closes it; else closeTime is null. '
  'The caller holds the locks of trading.lock_for_payout. Locks: the rows of the markets and of '
  'the category.';
