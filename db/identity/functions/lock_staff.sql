create or replace function identity.lock_staff(staff_id uuid)
returns identity.staff
language plpgsql volatile
as $$
declare
  v_member identity.staff;
begin
  perform core.check_session();
  select s.* into v_member
  from identity.staff as s
  where s.public_id = lock_staff.staff_id
    and s.removed_at is null
  for no key update;
  if not found then
    perform core.raise_error('NOT_FOUND', format(
      'There is no member of staff %s', coalesce(lock_staff.staff_id::text, 'null')
    ));
  end if;
  return v_member;
end
$$;

comment on function identity.lock_staff(uuid) is
  'Locks a member of staff by the public id, before passkeys, sessions and links, and returns the '
  'row. Errors: NOT_FOUND (also of one who was removed), UNFIT_SESSION. Locks: the row.';
