create or replace function ledger.lock_outside_world()
returns void
language plpgsql
as $$
begin
  perform core.check_session();
  perform
  from ledger.outside_world as w
  for no key update;
end
$$;

comment on function ledger.lock_outside_world() is
  'Locks the account of the outside world until the transaction ends. It goes before all markets '
  'and users, so that no two movements of cash wait for each other. Errors: UNFIT_SESSION.';
