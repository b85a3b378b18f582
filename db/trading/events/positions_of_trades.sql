-- An event may have thousands of trades: [:] unpacks it once, and not for each trade.
-- Rows are looked up by a range of one value, in order, which one index alone gives: on an empty
-- table the planner may choose another, in which that column does not come first, and keep to it.
create or replace function trading.positions_of_trades(trade_ids bigint[])
returns table (trade_id bigint, "position" bigint, first_trade_id bigint)
language plpgsql stable
as $$
begin
  return query
  select i.id, e.before + p.place, e.trade_ids[1]
  from (
    select t.created_at as traded_at, array_agg(t.id) as trade_ids
    from unnest(positions_of_trades.trade_ids) as a (id)
    cross join lateral (
      select x.id, x.created_at
      from trading.trades as x
      where x.id between a.id and a.id
      order by x.id
      limit 1
    ) as t
    group by t.created_at
  ) as g
  cross join lateral (
    select
      s.position - cardinality(s.trade_ids) - 1 as before,
      s.trade_ids[:] as trade_ids,
      g.trade_ids as asked_ids
    from trading.sent_events as s
    where s.traded_at between g.traded_at and g.traded_at
      and s.trade_ids is not null
    order by s.traded_at
    offset 0
  ) as e
  cross join lateral unnest(e.asked_ids) as i (id)
  cross join lateral (
    select width_bucket(i.id, e.trade_ids) as place
    offset 0
  ) as p
  where e.trade_ids[p.place] = i.id;
end
$$;

comment on function trading.positions_of_trades(bigint[]) is
  'The positions of the frames of trades in user streams, with the first trade of the same event. '
  'Without those that are not sent yet, and those whose events are not kept any more.';
