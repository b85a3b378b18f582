create or replace function identity.is_login_of_person(login text)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
  select exists (
    select
    from pg_catalog.pg_roles as r
    where r.rolname = is_login_of_person.login
      and r.rolcanlogin
      and pg_has_role(r.oid, 'exchange_operator', 'member')
      and not pg_has_role(r.oid, 'exchange_api', 'member')
      and not pg_has_role(r.oid, 'exchange_worker', 'member')
  );
end;

comment on function identity.is_login_of_person(text) is
  'Whether a login of the database may stand for a member of staff: it has exchange_operator, and '
  'not the rights of a server or a worker, in whose sessions nobody else could act. A superuser '
  'has all rights, and no rule about staff binds one.';
