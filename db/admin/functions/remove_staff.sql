create or replace function admin.remove_staff(staff_id uuid)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_member identity.staff;
begin
  perform admin.check_approval('remove_staff');
  v_member := identity.lock_staff(remove_staff.staff_id);
  -- Before it: who leaves may remove themselves.
  perform admin.audit('remove_staff', jsonb_build_object('staff_id', remove_staff.staff_id));
  perform identity.end_staff_access((v_member).id);
  update identity.staff as s
  set removed_at = core.now()
  where s.id = (v_member).id;
end
$$;

comment on function admin.remove_staff(uuid) is
  'Removes a member of staff for good: password, passkeys, sessions, invitations and the keys that '
  'they made end at once. Their login of the database can call nothing any more, but reads what it '
  'was granted until that is revoked. The address may be invited again, as another member. Errors: '
  'APPROVAL_REQUIRED, NOT_FOUND, UNFIT_SESSION. Locks: the member, the rows that end.';
