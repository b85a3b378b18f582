create or replace function admin.set_dispute_window(hours int, reason text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('set_dispute_window');
  perform core.check_reason(set_dispute_window.reason);
  update core.settings as s
  set dispute_window_hours = set_dispute_window.hours;
  perform admin.audit('set_dispute_window', jsonb_build_object(
    'hours', set_dispute_window.hours,
    'reason', set_dispute_window.reason
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_dispute_window(int, text) is
  'Sets for how many hours after a resolution or a correction, 0 to 8760, traders may dispute it; '
  '0: not at all. It holds at once for all markets, also for resolved ones. admin.dispute_window '
  'shows it. Errors: INVALID_REQUEST. Locks: the row of core.settings, which trading only reads.';
