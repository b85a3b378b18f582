create or replace function admin.remove_staff_passkey(passkey_id uuid)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_staff_id uuid;
  v_member identity.staff;
begin
  perform admin.check_approval('remove_staff_passkey');
  select s.public_id into v_staff_id
  from identity.staff_passkeys as p
  join identity.staff as s on s.id = p.staff_id
  where p.public_id = remove_staff_passkey.passkey_id;
  if found then
    v_member := identity.lock_staff(v_staff_id);
    delete from identity.staff_passkeys as p
    where p.public_id = remove_staff_passkey.passkey_id;
  end if;
  if not found then
    perform core.raise_error(
      'NOT_FOUND', format('There is no passkey %s of staff', remove_staff_passkey.passkey_id)
    );
  end if;
  delete from identity.staff_sessions as s
  where s.staff_id = v_member.id;
  perform admin.audit('remove_staff_passkey', jsonb_build_object(
    'passkey_id', remove_staff_passkey.passkey_id,
    'staff_id', v_staff_id
  ));
end
$$;

comment on function admin.remove_staff_passkey(uuid) is
  'Removes a passkey of a member of staff, who lost it, and ends the sessions of the member. '
  'Without another one the member signs in no more, until invited again. Errors: '
  'APPROVAL_REQUIRED, NOT_FOUND, UNFIT_SESSION. Locks: the member, the passkey, the sessions.';
