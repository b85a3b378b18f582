create or replace function admin.invite_staff(staff_id uuid)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_member identity.staff;
begin
  perform admin.check_approval('invite_staff');
  v_member := identity.lock_staff(invite_staff.staff_id);
  perform admin.revoke_staff_key(k.public_id)
  from (
    select x.public_id
    from identity.staff_keys as x
    where x.staff_id = (v_member).id
      and x.revoked_at is null
    order by x.id
  ) as k;
  perform identity.end_staff_access((v_member).id);
  perform identity.queue_mail('staff_invitation', null, (v_member).email);
  perform admin.audit('invite_staff', jsonb_build_object('staff_id', invite_staff.staff_id));
end
$$;

comment on function admin.invite_staff(uuid) is
  'Invites a member of staff again, who has not accepted in time or has lost the passkey: '
  'password, passkeys, sessions and keys end, and a mail has a new link. Errors: '
  'APPROVAL_REQUIRED, NOT_FOUND, UNFIT_SESSION. Locks: the member, the rows that end.';
