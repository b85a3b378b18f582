create or replace function trading.open_market(market_id bigint)
returns int
language plpgsql
as $$
begin
  perform from catalog.markets as m
  where m.id = open_market.market_id
    and m.open_time <= core.now()
    and (m.close_time is null or m.close_time > core.now());
  if not found then
    return 0;
  end if;
  perform trading.change_market_status(open_market.market_id, 'open');
  return 1;
end
$$;

comment on function trading.open_market(bigint) is
  'Opens a paused market that is past its open time and not past its close time; returns 1, or 0 '
  'if it is not due. The caller holds the market''s lock.';
