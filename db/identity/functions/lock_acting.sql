create or replace function identity.lock_acting()
returns void
language plpgsql volatile
as $$
begin
  perform
  from identity.staff as s
  where s.id = (select a.staff_id from identity.acting() as a)
  for share;
end
$$;

comment on function identity.lock_acting() is
  'Locks the member of staff who acts, if there is one, so that what ends the access or the roles '
  'of a member waits for the calls of that member, and sees what they did. Behind the lock, look '
  'up again who acts (identity.acting). Errors: UNAUTHORIZED. Locks: the member.';
