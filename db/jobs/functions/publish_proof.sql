create or replace function jobs.publish_proof()
returns table (root text, total_cents bigint)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select encode(p.root, 'hex'), p.total_cents from ledger.publish_proof() as p
$$;

comment on function jobs.publish_proof() is
  'Publishes a proof of balances: its root in hexadecimal digits, and the total of the users'' '
  'cash. Errors: INVALID_STATE (as ledger.publish_proof has it), UNFIT_SESSION. Locks: those of '
  'ledger.publish_proof.';
