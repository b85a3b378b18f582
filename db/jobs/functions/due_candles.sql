create or replace function jobs.due_candles()
returns setof bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- What a call of jobs.make_candles is to take.
  c_most_trades constant int := 10000;
  c_most_markets constant int := 500;
begin
  perform core.check_session();
  insert into trading.candle_progress (market_id)
  select b.market_id
  from trading.market_state as b
  where b.trade_count > 0
    and not exists (
      select from trading.candle_progress as p where p.market_id = b.market_id
    )
  order by b.market_id
  on conflict on constraint candle_progress_pkey do nothing;

  return query
    select array_agg(d.market_id)
    from (
      -- A market counts for its trades, and for a share of a full group.
      select
        b.market_id,
        sum(b.trade_count - p.trade_count + c_most_trades / c_most_markets)
          over (order by b.market_id) / c_most_trades as place
      from trading.candle_progress as p
      join trading.market_state as b on b.market_id = p.market_id
      where b.trade_count > p.trade_count
    ) as d
    group by floor(d.place)
    order by floor(d.place);
end
$$;

comment on function jobs.due_candles() is
  'The markets that have trades without candles, in groups for jobs.make_candles of some 10,000 '
  'trades, and of fewer than 500 markets. Cost: a row for each market that ever traded. Errors: '
  'UNFIT_SESSION. Locks: none, but for rows of markets that trade for the first time, for which '
  'another call waits.';
