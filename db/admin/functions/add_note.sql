create or replace function admin.add_note(user_id uuid, note text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('add_note');
  perform identity.lock_account_to_change(identity.user_id(add_note.user_id));
  insert into admin.user_notes (user_id, at, staff_id, operator, note)
  select identity.user_id(add_note.user_id), core.now(), a.staff_id, a.login, add_note.note
  from identity.acting() as a
  returning id into v_id;
  perform admin.audit('add_note', jsonb_build_object(
    'user_id', add_note.user_id, 'note_key', v_id
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.add_note(uuid, text) is
  'Writes a note about a user, of at most 4,000 characters, for other staff. Errors: '
  'INVALID_REQUEST, NOT_FOUND, INVALID_STATE (erased), UNFIT_SESSION. Locks: the account.';
