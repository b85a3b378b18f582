-- Under a higher isolation a command reads a snapshot that is older than the lock that it waited
-- for. Under another replication role no trigger and no foreign key is checked.
create or replace function core.check_session()
returns bigint
language sql stable
return case
  when current_setting('transaction_isolation') = 'read committed'
    and current_setting('session_replication_role') = 'origin' then 0
  else core.raise_unfit_session()
end;

comment on function core.check_session() is
  'Returns 0, or raises UNFIT_SESSION if a setting of the session would let a command compute a '
  'wrong result. Called by everything that takes a lock.';
