create or replace function trading.change_market_status(
  market_id bigint, status catalog.market_status, close_time timestamptz default null
)
returns void
language plpgsql
as $$
declare
  v_market catalog.markets;
  v_at timestamptz := core.now();
begin
  select m.* into strict v_market
  from catalog.markets as m
  where m.id = change_market_status.market_id
  for no key update;
  -- Past its close time a market is closed, even if the job that does it is late.
  if v_market.status in ('open', 'paused')
    and v_market.close_time <= v_at
    and change_market_status.status <> 'closed'
  then
    perform trading.announce_market_status(v_market.id, 'closed');
    perform trading.close_market_orders(
      v_market.id, trading.active_orders_of_market(v_market.id), v_at
    );
    v_market.status := 'closed';
  end if;
  if change_market_status.close_time <> coalesce(v_market.close_time, 'infinity')
    and (change_market_status.status <> 'open' or v_market.status = 'open')
  then
    perform core.raise_error(
      'INVALID_REQUEST',
      'A close time can be given only to open a paused or closed market; '
      'admin.edit_market changes it otherwise'
    );
  end if;
  if v_market.status = change_market_status.status then
    -- Who pauses a market that would open by itself wants it to stay paused.
    update catalog.markets as m
    set open_time = null
    where m.id = change_market_status.market_id
      and m.open_time is not null;
    return;
  end if;
  if v_market.status = 'resolved'
    or (v_market.status, change_market_status.status) = ('closed', 'paused')
  then
    perform core.raise_error('INVALID_STATE', format(
      'A %s market cannot become %s', v_market.status, change_market_status.status
    ));
  end if;
  perform catalog.check_close_time(change_market_status.close_time);
  if change_market_status.status = 'open' then
    perform trading.check_undecided(change_market_status.market_id);
  end if;

  update catalog.markets as m set
    status = change_market_status.status,
    open_time = null,
    close_time = case
      when change_market_status.status <> 'open' then m.close_time
      when v_market.status = 'closed' then change_market_status.close_time
      else coalesce(change_market_status.close_time, m.close_time)
    end
  where m.id = change_market_status.market_id;

  perform trading.announce_market_status(
    change_market_status.market_id, change_market_status.status
  );
  if change_market_status.status = 'closed' then
    perform trading.close_market_orders(
      v_market.id, trading.active_orders_of_market(v_market.id), v_at
    );
  end if;
end
$$;

comment on function trading.change_market_status(
  bigint, catalog.market_status, timestamptz
) is
  'Moves a market to open, paused or closed with all that goes with it, and tells its users. '
  'A market past its close time counts as closed. Its open time ends. Errors: INVALID_STATE (also '
  'to open a market that its exclusive event has decided), INVALID_REQUEST (a close time that '
  'would not be taken, or is not in the future). The caller holds the market''s lock.';
