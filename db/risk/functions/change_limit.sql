create or replace function risk.change_limit(
  inout limit_cents bigint,
  inout next_limit_cents bigint,
  inout changes_at timestamptz,
  wanted_cents bigint,
  immediate boolean,
  at timestamptz
)
language plpgsql immutable
as $$
declare
  c_delay constant interval := '24 hours';
  v_in_force_cents constant bigint := case
    when change_limit.at >= changes_at then next_limit_cents
    else limit_cents
  end;
  v_is_raise constant boolean := v_in_force_cents is not null
    and (wanted_cents is null or wanted_cents > v_in_force_cents);
  v_is_waiting constant boolean := coalesce(changes_at > change_limit.at, false)
    and next_limit_cents is not distinct from wanted_cents;
begin
  if immediate or not v_is_raise then
    limit_cents := wanted_cents;
    next_limit_cents := null;
    changes_at := null;
  elsif not v_is_waiting then
    limit_cents := v_in_force_cents;
    next_limit_cents := wanted_cents;
    changes_at := change_limit.at + c_delay;
  end if;
end
$$;

comment on function risk.change_limit(
  bigint, bigint, timestamptz, bigint, boolean, timestamptz
) is
  'A loss limit after a change to it: limit_cents holds, and next_limit_cents from changes_at on, '
  'if that is set. A lower limit holds at once; a higher one, or none (null), after 24 hours, '
  'unless immediate. Asking again for the change that is waiting does not restart the wait.';
