create or replace function admin.remove_due_keys()
returns int
language plpgsql volatile
as $$
declare
  v_count int;
  v_removed int := 0;
begin
  loop
    v_count := jobs.remove_keys();
    exit when v_count = 0;
    v_removed := v_removed + v_count;
  end loop;
  return v_removed;
end
$$;

comment on function admin.remove_due_keys() is
  'Removes all idempotency keys that no longer count and are not in use, and returns how many. '
  'Private to the schema. Locks: those of jobs.remove_keys.';
