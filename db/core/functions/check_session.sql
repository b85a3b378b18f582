-- Under a higher isolation a command reads a snapshot that is older than the lock that it waited
-- for. Under another replication role no trigger and no foreign key is checked.
create or replace function core.check_session()
returns bigint
language sql stable
return case
  when current_setting('transaction_isolation') = 'read committed'
    and current_setting('session_replication_role') = 'origin' then 0
  else core.refuse_session()
end;

comment on function core.check_session() is
  'Refuses a session whose settings would let a command compute something wrong; otherwise 0. '
  'Asked by everything that takes a lock. Errors: UNFIT_SESSION.';
