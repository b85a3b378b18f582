create or replace function trading.account_for_fills(batch trading.batch)
returns trading.batch
language plpgsql immutable
as $$
declare
  r_trader constant int[] := batch.trader_place;
  r_share constant int[] := batch.share_place;
  r_type constant trading.order_type[] := (batch.requests).order_type;
  k_trader constant int[] := (batch.makers).trader_place;
  k_share constant int[] := (batch.makers).share_place;
  k_price constant int[] := (batch.makers).book_price;
  k_is_buy constant boolean[] := (batch.makers).is_buy;
  f_request constant int[] := (batch.fills).request_place;
  f_maker constant int[] := (batch.fills).maker_place;
  f_quantity constant int[] := (batch.fills).quantity;
  f_fee constant bigint[] := (batch.fills).fee_cents;
  t_balance bigint[] := (batch.traders).balances_cents;
  t_version bigint[] := (batch.traders).account_versions;
  h trading.holdings_read := batch.holdings;
  s_quantity bigint[] := h.quantity;
  s_cost bigint[] := h.cost_cents;
  s_fee bigint[] := h.fee_cents;
  s_realised bigint[] := h.realised_cents;
  s_touched boolean[] := array_fill(false, array[cardinality(s_quantity)]);
  f_moved bigint[];
  f_balance bigint[];
  f_version bigint[];
  f_realised bigint[];
  i int;
  k int;
  t int; -- the taker, then the maker
  s int; -- the shares that this one buys or sells
  n int;
  v_is_buy boolean;
  v_price int; -- that of a buy on this one's side of the book
  v_fee bigint;
  v_cents bigint;
  v_cost_out bigint;
  v_fees_out bigint;
  v_realised bigint;
begin
  for p in 1 .. cardinality(f_request) loop
    i := f_request[p];
    k := f_maker[p];
    n := f_quantity[p];
    for v_party in 2 * p - 1 .. 2 * p loop
      if v_party < 2 * p then
        t := r_trader[i];
        s := r_share[i];
        v_is_buy := r_type[i] = 'buy';
        v_price := 100 - k_price[k];
        v_fee := f_fee[p];
      else
        t := k_trader[k];
        s := k_share[k];
        v_is_buy := k_is_buy[k];
        v_price := k_price[k];
        v_fee := 0;
      end if;
      if v_is_buy then
        v_cents := -(n * v_price) - v_fee;
        v_realised := null;
        s_quantity[s] := s_quantity[s] + n;
        s_cost[s] := s_cost[s] + n * v_price;
        s_fee[s] := s_fee[s] + v_fee;
      else
        v_cents := n * (100 - v_price) - v_fee;
        v_cost_out := core.half_up(s_cost[s] * n, s_quantity[s]);
        v_fees_out := core.half_up(s_fee[s] * n, s_quantity[s]);
        v_realised := v_cents - v_cost_out - v_fees_out;
        s_quantity[s] := s_quantity[s] - n;
        s_cost[s] := s_cost[s] - v_cost_out;
        s_fee[s] := s_fee[s] - v_fees_out;
        s_realised[s] := s_realised[s] + v_realised;
      end if;
      s_touched[s] := true;
      if v_cents <> 0 then
        t_balance[t] := t_balance[t] + v_cents;
        t_version[t] := t_version[t] + 1;
      end if;
      f_moved[v_party] := v_cents;
      f_balance[v_party] := t_balance[t];
      f_version[v_party] := t_version[t];
      f_realised[v_party] := v_realised;
    end loop;
  end loop;

  batch.fills := (
    f_request, f_maker, f_quantity, f_fee, f_moved, f_balance, f_version, f_realised, null, null
  )::trading.fills;
  batch.traders.balances_cents := t_balance;
  batch.versions_after := t_version;
  h.quantity := s_quantity;
  h.cost_cents := s_cost;
  h.fee_cents := s_fee;
  h.realised_cents := s_realised;
  h.is_touched := s_touched;
  batch.holdings := h;
  return batch;
end
$$;

comment on function trading.account_for_fills(trading.batch) is
  'What the fills of a call move, in their order: the cash of taker and maker with the balance and '
  'version that follow, and shares with their cost, fees and profit. A sale takes its part of cost '
  'and fees along, rounded half up; the last share takes the rest. A maker pays no fee. Cash that '
  'does not change, a sale for no more than its fee, is no version.';
