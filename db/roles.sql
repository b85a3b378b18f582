-- The roles of the exchange belong to the whole cluster, so they are made only where missing.
-- None of them can log in: a DBA grants them to the logins of people and processes.
do $$
declare
  c_roles constant text[] := array[
    'exchange_owner', 'exchange_api', 'exchange_worker', 'exchange_operator', 'exchange_analyst'
  ];
  v_role text;
  v_too_strong text;
begin
  foreach v_role in array c_roles loop
    if not exists (select from pg_catalog.pg_roles where rolname = v_role) then
      begin
        execute format('create role %I nologin', v_role);
      exception when duplicate_object or unique_violation then
        null; -- another database of this cluster was being built at the same moment
      end;
    end if;
  end loop;

  -- A role that was made for another purpose may have more rights than ours.
  select string_agg(s.name || ' ' || s.what, '; ' order by s.name, s.what) into v_too_strong
  from (
    select r.rolname::text as name, 'has ' || a.attribute as what
    from pg_catalog.pg_roles as r
    cross join lateral (
      values
        ('LOGIN', r.rolcanlogin), ('SUPERUSER', r.rolsuper), ('CREATEROLE', r.rolcreaterole),
        ('CREATEDB', r.rolcreatedb), ('BYPASSRLS', r.rolbypassrls),
        ('REPLICATION', r.rolreplication)
    ) as a (attribute, is_set)
    where r.rolname = any (c_roles) and a.is_set
    union all
    select m.member::regrole::text, 'is a member of ' || m.roleid::regrole::text
    from pg_catalog.pg_auth_members as m
    where m.member in (select r.oid from pg_catalog.pg_roles as r where r.rolname = any (c_roles))
  ) as s;
  if v_too_strong is not null then
    raise exception 'A role of the exchange has rights that it must not have: %', v_too_strong
      using
        errcode = 'invalid_grant_operation',
        hint = 'If the role is the exchange''s, take these rights from it (alter role, revoke). '
          'If it belongs to something else, install the exchange in a cluster of its own.';
  end if;

  if not pg_catalog.pg_has_role(
    current_user,
    'exchange_owner',
    -- From 16 on, the creator of a role is a member of it, but can't set role to it.
    case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end
  ) then
    execute format('grant exchange_owner to %I', current_user);
  end if;

  -- All roles of the cluster may connect to a new database and make temporary objects in it. Where
  -- the login may not change that, servers and workers say so when they start.
  if pg_catalog.pg_has_role(
    current_user,
    (select d.datdba from pg_catalog.pg_database as d where d.datname = current_database()),
    'usage'
  ) then
    execute format('revoke connect, temporary on database %I from public', current_database());
    execute format(
      'grant connect on database %I to %s', current_database(), array_to_string(c_roles, ', ')
    );
  end if;
end
$$;
