-- The cash and the shares of the fills that matching found, one after the other: what they cost and
-- realise depends on the ones before.
--
--   each fill, in order: a row of trading.trades with
--     its two orders, its price and the market's terms
--     the taker's shares and cash
--     the maker's shares and cash
--     the market's escrow and revenue
--     and what it adds to the market's figures
--   then what traders, markets and holdings have after all of them
--
-- The first letter of an array says what has a place in it: r_ requests, k_ makers, t_ traders,
-- m_ markets, s_ shares, h_ holdings.
create or replace function trading.account_fills(
  batch trading.matched_batch, order_ids bigint[]
)
returns trading.accounted_batch
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  r_market constant int[] := (batch.request_arrays).markets;
  r_trader constant int[] := (batch.request_arrays).traders;
  r_shares constant int[] := (batch.request_arrays).shares;
  r_is_buy constant boolean[] := (batch.request_arrays).is_buy;
  r_book_is_yes constant boolean[] := (batch.request_arrays).book_is_yes;
  r_book_price constant int[] := (batch.request_arrays).book_prices;
  k_order_ids constant bigint[] := (batch.maker_arrays).order_ids;
  k_trader constant int[] := (batch.maker_arrays).traders;
  k_shares constant int[] := (batch.maker_arrays).shares;
  k_is_buy constant boolean[] := (batch.maker_arrays).is_buy;
  k_price constant int[] := (batch.maker_arrays).prices;
  k_read constant int := cardinality(batch.makers);
  v_rested constant int[] := (batch.result).rested;
  t_user_ids constant bigint[] := (batch.traders).user_ids;
  t_balance bigint[] := (batch.traders).balances_cents;
  t_version bigint[] := (batch.traders).account_versions;
  m_ids constant bigint[] := (batch.market_arrays).ids;
  m_fee_schedule constant bigint[] := (batch.market_arrays).fee_schedule_ids;
  m_escrow bigint[];
  m_escrow_version bigint[];
  m_revenue bigint[];
  m_revenue_version bigint[];
  m_last_price int[] := array_fill(null::int, array[cardinality(batch.markets)]);
  m_yes_volume bigint[] := array_fill(0::bigint, array[cardinality(batch.markets)]);
  m_no_volume bigint[] := array_fill(0::bigint, array[cardinality(batch.markets)]);
  m_trade_count int[] := array_fill(0, array[cardinality(batch.markets)]);
  m_new_traders int[] := array_fill(0, array[cardinality(batch.markets)]);
  s_quantity bigint[] := (batch.shares).quantities;
  s_cost bigint[] := (batch.shares).costs_cents;
  s_fee bigint[] := (batch.shares).fees_cents;
  s_realised bigint[] := (batch.shares).realised_cents;
  s_touched boolean[] := array_fill(false, array[cardinality((batch.shares).quantities)]);
  h_has_traded boolean[] := array(
    select x.yes_traded or x.no_traded from unnest((batch.holdings).holdings) as x
  );

  v_accounted trading.accounted_batch;
  v_trades trading.trades[];
  v_trade trading.trades;
  v_fill trading.fill;
  f int := 0;
  i int;
  k int;
  j int;
  t int;
  m int;
  s int; -- the taker's shares
  g int; -- the maker's
  n int;
  v_price int;
  v_maker_price int;
  v_maker_buys boolean;
  v_cost_out bigint;
  v_fees_out bigint;
  v_escrow_cents bigint;
begin
  select
    array_agg(c.escrow_cents), array_agg(c.escrow_version), array_agg(c.revenue_cents),
    array_agg(c.revenue_version)
  into m_escrow, m_escrow_version, m_revenue, m_revenue_version
  from unnest(batch.markets) as c;
  v_trade.created_at := batch.at;

  foreach v_fill in array (batch.result).fills loop
    f := f + 1;
    i := v_fill.request;
    k := v_fill.maker;
    n := v_fill.quantity;
    t := r_trader[i];
    s := r_shares[i];
    if k <= k_read then
      m := k_trader[k];
      g := k_shares[k];
      v_maker_buys := k_is_buy[k];
      v_maker_price := k_price[k];
      v_trade.maker_order_id := k_order_ids[k];
    else
      j := v_rested[k - k_read];
      m := r_trader[j];
      g := r_shares[j];
      v_maker_buys := r_is_buy[j];
      v_maker_price := r_book_price[j];
      v_trade.maker_order_id := order_ids[j];
    end if;
    v_price := 100 - v_maker_price; -- mutant: improvement_kept
    j := r_market[i];

    v_trade.id := nextval('ledger.journal_ids');
    v_trade.public_id := core.uuid_v7();
    v_trade.market_id := m_ids[j];
    v_trade.taker_order_id := order_ids[i];
    v_trade.taker_user_id := t_user_ids[t];
    v_trade.maker_user_id := t_user_ids[m];
    v_trade.quantity := n;
    v_trade.fee_cents := v_fill.fee_cents;
    v_trade.fee_schedule_id := m_fee_schedule[j];
    if r_book_is_yes[i] then
      v_trade.price := v_price;
      v_trade.taker_side := 'yes';
    else
      v_trade.price := v_maker_price;
      v_trade.taker_side := 'no';
    end if;

    -- The taker's shares and cash.
    if r_is_buy[i] then
      s_quantity[s] := s_quantity[s] + n;
      s_cost[s] := s_cost[s] + n * v_price;
      s_fee[s] := s_fee[s] + v_fill.fee_cents;
      v_trade.taker_cents := -(n * v_price) - v_fill.fee_cents;
      v_trade.taker_realised_cents := null;
    else
      v_cost_out := core.half_up(s_cost[s] * n, s_quantity[s]);
      v_fees_out := core.half_up(s_fee[s] * n, s_quantity[s]);
      s_quantity[s] := s_quantity[s] - n;
      s_cost[s] := s_cost[s] - v_cost_out;
      s_fee[s] := s_fee[s] - v_fees_out;
      v_trade.taker_cents := n * v_maker_price - v_fill.fee_cents; -- mutant: seller_spared_the_fee
      v_trade.taker_realised_cents := v_trade.taker_cents - v_cost_out - v_fees_out; -- mutant: buy_fees_forgotten
      s_realised[s] := s_realised[s] + v_trade.taker_realised_cents;
    end if;
    s_touched[s] := true;
    if v_trade.taker_cents <> 0 then -- mutant: empty_taker_leg_counted
      t_balance[t] := t_balance[t] + v_trade.taker_cents;
      t_version[t] := t_version[t] + 1;
    end if;
    v_trade.taker_balance_cents := t_balance[t];
    v_trade.taker_version := t_version[t];

    -- The maker's.
    if v_maker_buys then
      s_quantity[g] := s_quantity[g] + n;
      s_cost[g] := s_cost[g] + n * v_maker_price;
      v_trade.maker_cents := -(n * v_maker_price); -- mutant: improvement_to_the_maker
      v_trade.maker_realised_cents := null;
    else
      v_cost_out := core.half_up(s_cost[g] * n, s_quantity[g]);
      v_fees_out := core.half_up(s_fee[g] * n, s_quantity[g]);
      s_quantity[g] := s_quantity[g] - n;
      s_cost[g] := s_cost[g] - v_cost_out; -- mutant: maker_keeps_cost
      s_fee[g] := s_fee[g] - v_fees_out;
      v_trade.maker_cents := n * v_price;
      v_trade.maker_realised_cents := v_trade.maker_cents - v_cost_out - v_fees_out;
      s_realised[g] := s_realised[g] + v_trade.maker_realised_cents;
    end if;
    s_touched[g] := true;
    t_balance[m] := t_balance[m] + v_trade.maker_cents;
    t_version[m] := t_version[m] + 1;
    v_trade.maker_balance_cents := t_balance[m];
    v_trade.maker_version := t_version[m];

    -- The market's: pairs minted into escrow or burnt out of it, and the fee.
    v_escrow_cents := -(v_trade.taker_cents + v_trade.maker_cents + v_fill.fee_cents);
    if v_escrow_cents <> 0 then -- mutant: escrow_leg
      m_escrow[j] := m_escrow[j] + v_escrow_cents; -- mutant: escrow_of_another_market
      m_escrow_version[j] := m_escrow_version[j] + 1;
    end if;
    if v_fill.fee_cents > 0 then -- mutant: empty_fee_leg_counted
      m_revenue[j] := m_revenue[j] + v_fill.fee_cents; -- mutant: revenue_of_another_market
      m_revenue_version[j] := m_revenue_version[j] + 1;
    end if;
    v_trade.escrow_balance_cents := m_escrow[j];
    v_trade.escrow_version := m_escrow_version[j];
    v_trade.revenue_balance_cents := m_revenue[j];
    v_trade.revenue_version := m_revenue_version[j];
    v_trades[f] := v_trade;

    m_last_price[j] := v_trade.price; -- mutant: price_of_another_market
    m_yes_volume[j] := m_yes_volume[j] + n * v_trade.price;
    m_no_volume[j] := m_no_volume[j] + n * (100 - v_trade.price); -- mutant: volume_of_one_side
    m_trade_count[j] := m_trade_count[j] + 1;

    if not h_has_traded[(s + 1) / 2] then -- mutant: taker_counted_twice
      h_has_traded[(s + 1) / 2] := true;
      m_new_traders[j] := m_new_traders[j] + 1;
    end if;
    if not h_has_traded[(g + 1) / 2] then -- mutant: maker_not_counted
      h_has_traded[(g + 1) / 2] := true;
      m_new_traders[j] := m_new_traders[j] + 1;
    end if;
  end loop;

  v_accounted.trades := v_trades;
  v_accounted.balances_cents := t_balance;
  v_accounted.account_versions := t_version;
  v_accounted.escrows_cents := m_escrow;
  v_accounted.escrow_versions := m_escrow_version;
  v_accounted.revenues_cents := m_revenue;
  v_accounted.revenue_versions := m_revenue_version;
  v_accounted.last_trade_prices := m_last_price;
  v_accounted.yes_volumes_cents := m_yes_volume;
  v_accounted.no_volumes_cents := m_no_volume;
  v_accounted.trade_counts := m_trade_count;
  v_accounted.new_traders := m_new_traders;
  v_accounted.holdings := trading.changed_holdings(
    batch.holdings, (s_quantity, s_cost, s_fee, s_realised)::trading.share_arrays, s_touched
  );
  return v_accounted;
end
$$;

comment on function trading.account_fills(trading.matched_batch, bigint[]) is
  'The trades of a matched batch with their cash, and what its traders, holdings and markets have '
  'after them. order_ids are of the requests. Draws the ids of the trades; writes nothing.';
