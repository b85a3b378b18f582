create or replace function api.sign_out_staff(session_id uuid)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from identity.staff_sessions as s
  where s.public_id = sign_out_staff.session_id
$$;

comment on function api.sign_out_staff(uuid) is
  'Ends a session of a member of staff. Locks: its row.';
