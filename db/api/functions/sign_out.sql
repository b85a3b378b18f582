create or replace function api.sign_out(session_id uuid)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    where s.public_id = sign_out.session_id
  ))
$$;

comment on function api.sign_out(uuid) is
  'Ends a session; servers hear of it by session_ended. Locks: its row.';
