create or replace function admin.run_due()
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
as $$
declare
  v_switches record;
  v_markets record;
  v_piece int;
  v_archived int := 0;
  v_keys int := 0;
  v_passed_over int;
  v_done jsonb;
begin
  perform admin.check_role('run_due');
  -- Before the work, which would be undone if this had to wait for long.
  perform identity.lock_acting();
  v_switches := admin.fire_due_switches();
  v_markets := admin.process_due_markets();
  loop
    begin
      v_piece := trading.archive_orders(1000);
    exception when lock_not_available then
      v_piece := 0; -- a partition is missing, and the archive is being read
    end;
    exit when v_piece = 0;
    v_archived := v_archived + v_piece;
  end loop;
  loop
    v_piece := jobs.remove_keys();
    exit when v_piece = 0;
    v_keys := v_keys + v_piece;
  end loop;
  v_passed_over := v_switches.passed_over + v_markets.passed_over;
  v_done := jsonb_build_object(
    'released', v_markets.released,
    'expired', v_switches.expired + v_markets.expired,
    'closed', v_markets.closed,
    'archived', v_archived,
    'keysRemoved', v_keys
  );
  perform admin.audit('run_due', v_done || jsonb_build_object(
    'deadManCancelled', v_switches.cancelled,
    'opened', v_markets.opened,
    'passedOver', v_passed_over
  ));
  if v_passed_over > 0 then
    raise warning 'Passed over % locked market(s); call admin.run_due() again for them',
      v_passed_over;
  end if;
  return v_done;
end
$$;

comment on function admin.run_due() is
  'Does at once what the jobs would do now, in one transaction: cancels the orders of dead man''s '
  'switches that have expired; in each market releases, then expiries, then its closing or '
  'opening; then the archive and old idempotency keys. Returns how many: {released, expired, '
  'closed, archived, keysRemoved}; the audit log has these, and how many orders switches cancelled '
  '(deadManCancelled) and how many markets opened. Like the jobs, it passes over what is locked: '
  'markets (a warning and the audit log count them), also those that wait longer than 250 ms for a '
  'user or a row of the catalogue, the archive while a job moves orders there or a reader keeps it '
  'from a new partition, and keys in use. Call it again for these. Locks: the markets that are '
  'free, then what each job locks.';
