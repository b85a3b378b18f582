create or replace function admin.set_market_status(
  market_id uuid, status text, close_time timestamptz default null
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_id bigint;
begin
  perform admin.check_role('set_market_status');
  if set_market_status.status is null
    or set_market_status.status not in ('open', 'paused', 'closed')
  then
    perform core.raise_error('INVALID_REQUEST', 'The status must be open, paused or closed');
  end if;

  v_market_id := catalog.market_id(set_market_status.market_id);
  perform trading.lock_market(v_market_id);
  perform trading.change_market_status(
    v_market_id,
    set_market_status.status::catalog.market_status,
    set_market_status.close_time
  );
  perform admin.audit('set_market_status', jsonb_build_object(
    'market_id', set_market_status.market_id,
    'status', set_market_status.status,
    'close_time', set_market_status.close_time
  ));
end
$$;

comment on function admin.set_market_status(uuid, text, timestamptz) is
  'Opens, pauses or closes a market. Closing cancels its open orders (market_closed); reopening a '
  'closed one takes the close time given, or none; a paused one keeps its own unless one is given. '
  'Setting the present status changes nothing; admin.edit_market changes the close time then. '
  'Errors: INVALID_REQUEST, NOT_FOUND, INVALID_STATE. Locks: the market.';
