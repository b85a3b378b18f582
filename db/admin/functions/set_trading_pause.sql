create or replace function admin.set_trading_pause(paused boolean, reason text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('set_trading_pause');
  update core.settings as s set
    trading_paused = set_trading_pause.paused,
    trading_pause_reason = set_trading_pause.reason,
    trading_paused_at = case
      when set_trading_pause.paused then coalesce(s.trading_paused_at, core.now())
    end;
  perform admin.audit('set_trading_pause', jsonb_build_object(
    'paused', set_trading_pause.paused,
    'reason', set_trading_pause.reason
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_trading_pause(boolean, text) is
  'Pauses trading on the whole site, or ends the pause. Resting orders stay, cancels work. Pausing '
  'again keeps the time and changes the reason. admin.trading_pause shows both. Errors: '
  'INVALID_REQUEST. Locks: the row of core.settings, which trading only reads.';
