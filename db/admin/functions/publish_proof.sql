create or replace function admin.publish_proof()
returns table (root text, total_cents bigint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform admin.check_role('publish_proof');
  select encode(p.root, 'hex'), p.total_cents into publish_proof.root, publish_proof.total_cents
  from ledger.publish_proof() as p;
  perform admin.audit('publish_proof', '{}');
  return next;
end
$$;

comment on function admin.publish_proof() is
  'Publishes a proof of balances now, as the worker does each day: its root in hexadecimal digits, '
  'and the total of the users'' cash. Errors: INVALID_STATE (as ledger.publish_proof has it), '
  'UNFIT_SESSION. Locks: those of ledger.publish_proof.';
