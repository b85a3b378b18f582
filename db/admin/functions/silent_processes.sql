create or replace function admin.silent_processes()
returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  -- core.processes is unlogged: a standby refuses to plan a query of it.
  if pg_is_in_recovery() then
    return null;
  end if;
  return (
    select count(*)
    from core.processes as p
    where p.seen_at < core.now() - interval '30 seconds'
  );
end
$$;

comment on function admin.silent_processes() is
  'How many servers and workers of admin.processes are silent. Null on a standby, which has no '
  'rows of them.';
