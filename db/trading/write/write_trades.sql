create or replace function trading.write_trades(batch trading.batch)
returns trading.batch
language plpgsql
as $$
declare
  r constant trading.requests := batch.requests;
  k constant trading.makers := batch.makers;
  m constant trading.markets_read := batch.markets;
  o_id constant bigint[] := (batch.results).order_id;
  t_user_id constant bigint[] := (batch.traders).user_ids;
  t_balance constant bigint[] := (batch.traders).balances_cents;
  t_version constant bigint[] := (batch.traders).account_versions;
  h constant trading.holdings_read := batch.holdings;
  h_count constant int := cardinality(h.key);
  f trading.fills := batch.fills;
  v_moved bigint[];
  v_today constant date := (batch.at at time zone 'UTC')::date;
begin
  perform ledger.check_day(batch.at);
  select array_agg(nextval('ledger.journal_ids')), array_agg(core.uuid_v7())
  into f.trade_id, f.public_id
  from generate_subscripts(f.request_place, 1);
  insert into trading.trades (
    id, market_id, taker_order_id, maker_order_id, taker_user_id, maker_user_id, taker_cents,
    taker_balance_cents, taker_version, maker_cents, maker_balance_cents, maker_version,
    escrow_balance_cents, escrow_version, revenue_balance_cents, revenue_version,
    taker_realised_cents, maker_realised_cents, fee_cents, fee_schedule_id, created_at, public_id,
    quantity, price, taker_side
  )
  select
    f.trade_id[v.p], m.id[v.g], o_id[v.i], k.order_id[v.k], r.user_id[v.i],
    t_user_id[k.trader_place[v.k]], f.moved_cents[v.taker], f.balance_cents[v.taker],
    f.account_version[v.taker], f.moved_cents[v.maker], f.balance_cents[v.maker],
    f.account_version[v.maker],
    m.escrow_cents[v.g] + sum(v.escrow_cents) over so_far,
    m.escrow_version[v.g] + count(*) filter (where v.escrow_cents <> 0) over so_far,
    m.revenue_cents[v.g] + sum(v.fee_cents) over so_far,
    m.revenue_version[v.g] + count(*) filter (where v.fee_cents > 0) over so_far,
    f.realised_cents[v.taker], f.realised_cents[v.maker], v.fee_cents, m.fee_schedule_id[v.g],
    batch.at, f.public_id[v.p], f.quantity[v.p],
    case when v.is_yes then 100 - v.price else v.price end,
    case when v.is_yes then 'yes' else 'no' end::trading.side
  from (
    -- To escrow goes what neither of them nor the fee gets: pairs are minted, or burnt.
    select
      p, x.i, x.k, x.taker, x.maker, r.market_place[x.i] as g, r.is_yes[x.i] as is_yes,
      k.book_price[x.k] as price, f.fee_cents[p] as fee_cents,
      -f.moved_cents[x.taker] - f.moved_cents[x.maker] - f.fee_cents[p] as escrow_cents
    from generate_subscripts(f.request_place, 1) as p
    cross join lateral (
      select f.request_place[p], f.maker_place[p], 2 * p - 1, 2 * p offset 0
    ) as x (i, k, taker, maker)
    offset 0
  ) as v
  window so_far as (partition by v.g order by v.p rows unbounded preceding);

  -- Not by a join: whatever the statistics say, each row is looked up by its key.
  insert into trading.holdings as x (
    market_id, user_id, yes_public_id, yes_quantity, yes_cost_cents, yes_fee_cents,
    yes_realised_cents, yes_traded, no_public_id, no_quantity, no_cost_cents, no_fee_cents,
    no_realised_cents, no_traded
  )
  select
    m.id[h.market_place[i]], h.user_id[i],
    coalesce(h.public_id[i], case when h.is_touched[i] then core.uuid_v7() end),
    h.quantity[i], h.cost_cents[i], h.fee_cents[i], h.realised_cents[i], h.is_touched[i],
    coalesce(h.public_id[j], case when h.is_touched[j] then core.uuid_v7() end),
    h.quantity[j], h.cost_cents[j], h.fee_cents[j], h.realised_cents[j], h.is_touched[j]
  from generate_series(1, h_count) as i
  cross join lateral (select h_count + i offset 0) as n (j)
  where h.is_touched[i] or h.is_touched[j]
  on conflict on constraint holdings_pkey do update set
    yes_public_id = excluded.yes_public_id,
    yes_quantity = excluded.yes_quantity,
    yes_cost_cents = excluded.yes_cost_cents,
    yes_fee_cents = excluded.yes_fee_cents,
    yes_realised_cents = excluded.yes_realised_cents,
    yes_traded = x.yes_traded or excluded.yes_traded,
    no_public_id = excluded.no_public_id,
    no_quantity = excluded.no_quantity,
    no_cost_cents = excluded.no_cost_cents,
    no_fee_cents = excluded.no_fee_cents,
    no_realised_cents = excluded.no_realised_cents,
    no_traded = x.no_traded or excluded.no_traded;

  -- By their ids and not by a join: no plan can do worse than look each up.
  v_moved := array(
    select t_user_id[i]
    from generate_subscripts(t_user_id, 1) as i
    where batch.versions_after[i] <> t_version[i]
  );
  with opened as (
    insert into ledger.day_openings (user_id, day, balance_cents, external_cents)
    select t.user_id, v_today, t.balance_cents, t.external_cents
    from trading.traders as t
    where t.user_id = any (v_moved)
      and t.moved_on < v_today
  )
  update trading.traders as t set
    moved_on = greatest(t.moved_on, v_today),
    (balance_cents, account_version, overdraft_cents) = (
      select
        t_balance[p.place], batch.versions_after[p.place],
        least(t.overdraft_cents, greatest(0, -t_balance[p.place]))
      from (select width_bucket(t.user_id, t_user_id) offset 0) as p (place)
    )
  where t.user_id = any (v_moved);
  batch.fills := f;
  return batch;
end
$$;

comment on function trading.write_trades(trading.batch) is
  'Writes the fills of a call: the trades, the shares and the cash of everybody in them, and the '
  'balance with which each of these users began the day. Error: 40001 if the day of the call has '
  'ended.';
