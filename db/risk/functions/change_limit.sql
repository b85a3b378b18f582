create or replace function risk.change_limit(
  present risk.limit_change, wanted_cents bigint, immediate boolean, at timestamptz
)
returns risk.limit_change
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_delay constant interval := '24 hours'; -- mutant: raise_at_once
  v_in_force_cents bigint := case
    when change_limit.at >= (present).changes_at then (present).next_limit_cents
    else (present).limit_cents
  end;
  v_is_raise boolean := v_in_force_cents is not null
    and (wanted_cents is null or wanted_cents > v_in_force_cents);
begin
  if immediate or not v_is_raise then
    return (wanted_cents, null, null)::risk.limit_change;
  elsif (present).changes_at > change_limit.at
    and (present).next_limit_cents is not distinct from wanted_cents
  then
    return present; -- asked for before: the wait goes on
  end if;
  return (v_in_force_cents, wanted_cents, change_limit.at + c_delay)::risk.limit_change;
end
$$;

comment on function risk.change_limit(risk.limit_change, bigint, boolean, timestamptz) is
  'A loss limit after its change is asked for: lower holds at once, higher or none after 24 '
  'hours.';
