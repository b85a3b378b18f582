create or replace function trading.change_market_status(
  market_id bigint, status catalog.market_status, close_time timestamptz default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market catalog.markets;
  v_at timestamptz := core.now();
begin
  select m.* into strict v_market
  from catalog.markets as m
  where m.id = change_market_status.market_id
  for no key update;
  if v_market.status = change_market_status.status then
    return;
  end if;
  if v_market.status = 'resolved'
    or (v_market.status, change_market_status.status) = ('closed', 'paused')
  then
    perform core.raise_error('INVALID_STATE', format(
      'a %s market cannot become %s', v_market.status, change_market_status.status
    ));
  end if;
  if change_market_status.close_time <= v_at then
    perform core.raise_error('INVALID_REQUEST', 'the close time must be in the future');
  end if;

  update catalog.markets as m set
    status = change_market_status.status,
    close_time = case
      when change_market_status.status <> 'open' then m.close_time
      when m.status = 'closed' then change_market_status.close_time
      else coalesce(change_market_status.close_time, m.close_time)
    end
  where m.id = change_market_status.market_id;

  if change_market_status.status = 'closed' then
    perform trading.clear_orders(
      change_market_status.market_id,
      trading.open_orders_of_market(change_market_status.market_id),
      'market_closed',
      v_at
    );
  end if;
end
$$;

comment on function trading.change_market_status(
  bigint, catalog.market_status, timestamptz
) is
  'Moves a market to open, paused or closed with all that goes with it. Errors: INVALID_STATE, '
  'INVALID_REQUEST. The caller holds the market''s lock.';
