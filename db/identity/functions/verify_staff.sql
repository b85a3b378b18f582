create or replace function identity.verify_staff()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  calls as materialized (
    select a.id, a.at, a.action, a.arguments, a.arguments ->> 'staff_id' as staff_id
    from admin.audit_log as a
    where a.action in ('create_staff', 'set_staff_roles', 'remove_staff')
  ),
  called as (
    select
      c.staff_id,
      concat_ws(
        ' ', c.arguments ->> 'email', c.arguments ->> 'name', 'login', c.arguments ->> 'login'
      ) as terms,
      (
        select r.arguments ->> 'roles'
        from calls as r
        where r.staff_id = c.staff_id and r.action in ('create_staff', 'set_staff_roles')
        order by r.id desc
        limit 1
      ) as roles,
      exists (
        select from calls as r where r.staff_id = c.staff_id and r.action = 'remove_staff'
      ) as is_removed
    from calls as c
    where c.action = 'create_staff'
  ),
  members as (
    select
      s.public_id::text as staff_id, concat_ws(' ', s.email, s.name, 'login', s.login) as terms,
      to_jsonb(s.roles)::text as roles, s.removed_at is not null as is_removed
    from identity.staff as s
  )
  select 'member of staff is what was called for', 'staff ' || coalesce(m.staff_id, c.staff_id),
    coalesce(concat_ws(', ', c.terms, c.roles, case when c.is_removed then 'removed' end), 'none'),
    coalesce(concat_ws(', ', m.terms, m.roles, case when m.is_removed then 'removed' end), 'none')
  from members as m
  full join called as c on c.staff_id = m.staff_id
  where (m.terms, m.roles, m.is_removed) is distinct from (c.terms, c.roles, c.is_removed)

  union all
  select 'session of staff is of one who is staff', 'staff session ' || x.id, 'none', 'a session'
  from identity.staff_sessions as x
  join identity.staff as s on s.id = x.staff_id
  where s.removed_at is not null or s.password_hash is null
$$;

comment on function identity.verify_staff() is
  'The part of ledger.verify() about staff: who they are, and their roles, are as the calls in '
  'admin.audit_log say, and none who has no password has a session. One row for each broken '
  'invariant.';
