create or replace function trading.position_of_trade(trade_id bigint, traded_at timestamptz)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select e.position - cardinality(e.trade_ids)
      + array_position(e.trade_ids, position_of_trade.trade_id) - 1
    from trading.sent_events as e
    where e.traded_at = position_of_trade.traded_at
      and e.trade_ids is not null
      and position_of_trade.trade_id = any (e.trade_ids)
    limit 1
  );
end
$$;

comment on function trading.position_of_trade(bigint, timestamptz) is
  'The position of the frames of a trade in user streams, by its id and created_at. Null when it '
  'is not sent yet, or its event is not kept any more.';
