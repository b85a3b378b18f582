create or replace function admin.set_minimum_age(years int, reason text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  perform admin.check_approval('set_minimum_age');
  perform core.check_reason(set_minimum_age.reason);
  update core.settings as s
  set minimum_age = set_minimum_age.years;
  perform admin.audit('set_minimum_age', jsonb_build_object(
    'years', set_minimum_age.years,
    'reason', set_minimum_age.reason
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_minimum_age(int, text) is
  'Sets the age in years, 1 to 99, that users must confirm before they sign up or trade; 0, which '
  'it is until this is called: none. It holds at once, also for users who signed up before: their '
  'orders are rejected with LIMITS_SETUP_REQUIRED until they have confirmed it on the website. '
  'Orders that rest stay, scheduled ones end at their release. admin.minimum_age shows it. '
  'Errors: APPROVAL_REQUIRED, INVALID_REQUEST, UNFIT_SESSION. Locks: admin.rules in mode row '
  'share, the row of core.settings, which trading only reads.';
