-- The roles of the exchange belong to the whole cluster, so they are made only where missing.
-- None of them can log in: a DBA grants them to the logins of people and processes.
do $$
declare
  v_role text;
begin
  foreach v_role in array array[
    'exchange_owner', 'exchange_api', 'exchange_worker', 'exchange_operator', 'exchange_analyst'
  ] loop
    if not exists (select from pg_catalog.pg_roles where rolname = v_role) then
      begin
        execute format('create role %I nologin', v_role);
      exception when duplicate_object or unique_violation then
        null; -- another database of this cluster was being built at the same moment
      end;
    end if;
  end loop;
  if not pg_catalog.pg_has_role(
    current_user,
    'exchange_owner',
    -- Who creates a role is a member of it from 16 on, but may not become it.
    case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end
  ) then
    execute format('grant exchange_owner to %I', current_user);
  end if;
end
$$;
