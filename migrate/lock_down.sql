-- Takes from PUBLIC what only a superuser can take, in the database of the exchange. To be run once
-- there, after the first migration, and again after every restore or pg_upgrade of the database:
--
--   psql -v ON_ERROR_STOP=1 -f migrate/lock_down.sql 'postgres://postgres@db.example/pgmarkets'
--
-- It may be run again at any time, while the exchange trades. docs/operating/install.md explains it.
do $$
declare
  v_function regprocedure;
  v_is_open boolean;
begin
  -- Any login could take the advisory lock of a market and stop it, store
  -- large objects until the disk is full, or write into the WAL. The functions of the exchange run
  -- as exchange_owner, and migrations take a lock as a member of it.
  for v_function in
    select p.oid::regprocedure
    from pg_catalog.pg_proc as p
    where p.pronamespace = 'pg_catalog'::regnamespace
      and (
        p.proname ~ '^pg_(try_)?advisory_'
        or p.proname ~ '^lo_' or p.proname in ('loread', 'lowrite')
        or p.proname = 'pg_logical_emit_message'
      )
  loop
    execute format('revoke execute on function %s from public', v_function);
    if v_function::text ~ 'advisory' then
      execute format('grant execute on function %s to exchange_owner', v_function);
    end if;
  end loop;

  -- Databases that came from PostgreSQL 14 or earlier let everybody make objects in it.
  if to_regnamespace('public') is not null then
    execute 'revoke create on schema public from public';
  end if;

  -- Temporary objects fill the disk, and logins of other databases of the cluster have no business
  -- here. Logins for backups and monitoring need a grant of their own. Where PUBLIC has no access
  -- any more, who has was chosen: two exchanges of a cluster share the roles, not the logins.
  v_is_open := exists (
    select
    from pg_catalog.pg_database as d
    cross join aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) as x
    where d.datname = current_database()
      and x.grantee = 0
      and x.privilege_type = 'CONNECT'
  );
  execute format('revoke connect, temporary on database %I from public', current_database());
  if v_is_open then
    execute format(
      'grant connect on database %I to exchange_owner, exchange_api, exchange_worker, '
      'exchange_operator, exchange_analyst',
      current_database()
    );
  end if;
end
$$;
