create or replace function identity.lock_staff(staff_id uuid)
returns identity.staff
language plpgsql volatile
as $$
declare
  v_acting_id constant bigint := (select a.staff_id from identity.acting() as a);
  v_member identity.staff;
begin
  perform core.check_session();
  perform
  from identity.staff as s
  where s.public_id = lock_staff.staff_id
    or s.id = v_acting_id
  order by s.id
  for no key update;
  select s.* into v_member
  from identity.staff as s
  where s.public_id = lock_staff.staff_id
    and s.removed_at is null;
  if not found then
    perform core.raise_error('NOT_FOUND', format(
      'There is no member of staff %s', coalesce(lock_staff.staff_id::text, 'null')
    ));
  end if;
  return v_member;
end
$$;

comment on function identity.lock_staff(uuid) is
  'Locks a member of staff by the public id, before passkeys, sessions, keys and links, and '
  'returns the row. Waits for the calls under way of that member. Locks the member who acts as '
  'well, so that of two who end each other''s access one finds it ended. Errors: NOT_FOUND (also '
  'of one who was removed), UNAUTHORIZED, UNFIT_SESSION. Locks: the rows of both, by ascending id.';
