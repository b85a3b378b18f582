create or replace function installer.verify_objects()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  -- Triggers of statements are not those of the partitions, which have their own.
  guards as (
    select i.inhrelid as partition_id, t.tgrelid = i.inhrelid as is_own, t.tgname, concat_ws(
      ' ', t.tgfoid::regprocedure, t.tgtype, t.tgenabled
    ) as guard
    from pg_inherits as i
    join pg_class as c on c.oid = i.inhparent and c.relkind = 'p'
    join pg_trigger as t on t.tgrelid in (i.inhparent, i.inhrelid)
    where not t.tgisinternal
      and c.relowner = 'exchange_owner'::regrole
  )
  select 'schema is as it was installed', c.object, coalesce(c.expected, 'none'),
    coalesce(c.found, 'none')
  from installer.changed_objects() as c

  union all
  select 'schema was noted by the last installation', 'installation',
    'one by PostgreSQL ' || v.server_version,
    coalesce('PostgreSQL ' || i.server_version, 'none')
  from (select current_setting('server_version_num')::int / 10000 as server_version) as v
  left join (
    select x.server_version
    from installer.installations as x
    order by x.id desc
    limit 1
  ) as i on true
  where i.server_version is distinct from v.server_version

  union all
  select 'partition has the triggers of its table',
    concat_ws(
      ' ', 'trigger', coalesce(g.tgname, p.tgname), 'of',
      coalesce(g.partition_id, p.partition_id)::regclass
    ),
    coalesce(g.guard, 'none'), coalesce(p.guard, 'none')
  from (select x.* from guards as x where not x.is_own) as g
  full join (select x.* from guards as x where x.is_own) as p
    on p.partition_id = g.partition_id and p.tgname = g.tgname
  where g.guard is distinct from p.guard

  -- Rights on a partition do not follow from those on its table.
  union all
  select 'partition gives no rights of its own', 'partition ' || a.partition_id::regclass, 'none',
    concat_ws(' ', a.privilege_type, 'to', coalesce(r.rolname, 'public'))
  from (
    select c.oid as partition_id, c.relowner, x.grantee, x.privilege_type
    from pg_inherits as i
    join pg_class as p on p.oid = i.inhparent and p.relkind = 'p'
    join pg_class as c on c.oid = i.inhrelid
    left join pg_attribute as t on t.attrelid = c.oid and t.attacl is not null
    cross join lateral (
      select e.* from aclexplode(c.relacl) as e
      union
      select e.* from aclexplode(t.attacl) as e
    ) as x
    where p.relowner = 'exchange_owner'::regrole
  ) as a
  left join pg_roles as r on r.oid = a.grantee
  where a.grantee <> 'exchange_owner'::regrole
    and (a.grantee = 0 or r.rolname ~ '^exchange_')
$$;

comment on function installer.verify_objects() is
  'The part of ledger.verify() about the schema: functions, tables, constraints, triggers and '
  'grants are as npm run migrate left them. One row for each that is not.';
