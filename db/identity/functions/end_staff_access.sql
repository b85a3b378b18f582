create or replace function identity.end_staff_access(staff_id bigint)
returns void
language plpgsql volatile
as $$
begin
  delete from identity.mails as m
  using identity.staff as s
  where s.id = end_staff_access.staff_id
    and m.kind = 'staff_invitation'
    and m.due_at is not null
    and lower(m.address collate "C") = lower(s.email collate "C");
  delete from identity.links as l
  where l.staff_id = end_staff_access.staff_id;
  update identity.staff as s
  set password_hash = null, password_changed_at = null
  where s.id = end_staff_access.staff_id;
  delete from identity.staff_passkeys as p
  where p.staff_id = end_staff_access.staff_id;
  delete from identity.staff_sessions as s
  where s.staff_id = end_staff_access.staff_id;
end
$$;

comment on function identity.end_staff_access(bigint) is
  'Ends all that gives a member of staff access: invitations, password, passkeys and sessions. The '
  'caller has locked the member (identity.lock_staff). Locks: their rows.';
