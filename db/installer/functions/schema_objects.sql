-- The settings are those that definitions are written by.
create or replace function installer.schema_objects()
returns table (kind text, name text, definition text)
language sql stable
set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY'
set intervalstyle = 'postgres'
set timezone = 'UTC'
set standard_conforming_strings = on
set quote_all_identifiers = off
set bytea_output = 'hex'
set extra_float_digits = 1
as $$
  with schemas as (
    select n.*
    from pg_namespace as n
    where n.nspowner = 'exchange_owner'::regrole and n.nspname !~ '^graphile_'
  ),
  relations as (
    select c.*, format('%I.%I', n.nspname, c.relname) as full_name
    from pg_class as c
    join schemas as n on n.oid = c.relnamespace
    where not c.relispartition
  ),
  functions as (
    select p.*, p.oid::regprocedure::text as full_name
    from pg_proc as p
    join schemas as n on n.oid = p.pronamespace
    where not exists (select from pg_depend as d where d.objid = p.oid and d.deptype = 'e')
  ),
  types as (
    select t.*, format('%I.%I', n.nspname, t.typname) as full_name
    from pg_type as t
    join schemas as n on n.oid = t.typnamespace
    left join pg_class as c on c.oid = t.typrelid
    where t.typcategory <> 'A' and coalesce(c.relkind = 'c', true)
  ),
  acls (object, acl) as (
    select 'schema ' || n.nspname, coalesce(n.nspacl, acldefault('n', n.nspowner))
    from schemas as n
    union all
    select 'relation ' || r.full_name, coalesce(
      r.relacl, acldefault(case r.relkind when 'S' then 's' else 'r' end::"char", r.relowner)
    )
    from relations as r
    where r.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
    union all
    select format('column %s.%I', r.full_name, a.attname), a.attacl
    from relations as r
    join pg_attribute as a on a.attrelid = r.oid
    where a.attacl is not null and a.attnum > 0
    union all
    select 'function ' || f.full_name, coalesce(f.proacl, acldefault('f', f.proowner))
    from functions as f
    union all
    select 'type ' || t.full_name, coalesce(t.typacl, acldefault('T', t.typowner))
    from types as t
  )
  select 'schema', n.nspname::text, format('owner %s', n.nspowner::regrole)
  from schemas as n
  union all
  select 'grant', format('%s to %s', a.object, coalesce(g.rolname, 'public')), format(
    '%s%s, by %s', string_agg(x.privilege_type, ', ' order by x.privilege_type),
    case when x.is_grantable then ' and grant it' end, x.grantor::regrole
  )
  from acls as a
  cross join aclexplode(a.acl) as x
  left join pg_roles as g on g.oid = x.grantee
  where x.grantee = 0 or g.rolname ~ '^exchange_'
  group by a.object, g.rolname, x.is_grantable, x.grantor
  union all
  select 'type', t.full_name, format('%s owner %s %s', t.typtype, t.typowner::regrole, case
    t.typtype
    when 'e' then (
      select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)
      from pg_enum as e
      where e.enumtypid = t.oid
    )
    when 'd' then format('%s not null %s default %s checks %s',
      format_type(t.typbasetype, t.typtypmod), t.typnotnull, t.typdefault,
      (
        select string_agg(c.conname || ' ' || pg_get_constraintdef(c.oid), ', ' order by c.conname)
        from pg_constraint as c
        where c.contypid = t.oid
      )
    )
    when 'c' then (
      select string_agg(
        format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum
      )
      from pg_attribute as a
      where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
    )
  end)
  from types as t
  union all
  select 'relation', r.full_name, format(
    '%s owner %s persistence %s rls %s/%s partition key %s',
    r.relkind, r.relowner::regrole, r.relpersistence, r.relrowsecurity, r.relforcerowsecurity,
    pg_get_partkeydef(r.oid)
  )
  from relations as r
  where r.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
  union all
  select 'column', format('%s.%I', r.full_name, a.attname), format(
    '%s collation %s not null %s default %s identity %s generated %s',
    format_type(a.atttypid, a.atttypmod),
    (select c.collname from pg_collation as c where c.oid = a.attcollation),
    a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attgenerated
  )
  from relations as r
  join pg_attribute as a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where r.relkind in ('r', 'p', 'v', 'm', 'f')
  union all
  select 'constraint', format('%s.%I', r.full_name, c.conname),
    format('%s validated %s', pg_get_constraintdef(c.oid), c.convalidated)
  from relations as r
  join pg_constraint as c on c.conrelid = r.oid
  union all
  select 'index', i.indexrelid::regclass::text,
    format('%s valid %s', pg_get_indexdef(i.indexrelid), i.indisvalid)
  from relations as r
  join pg_index as i on i.indrelid = r.oid
  union all
  select 'view', r.full_name, pg_get_viewdef(r.oid)
  from relations as r
  where r.relkind in ('v', 'm')
  union all
  select 'sequence', r.full_name, format(
    '%s start %s by %s min %s max %s cache %s cycle %s', format_type(s.seqtypid, null),
    s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle
  )
  from relations as r
  join pg_sequence as s on s.seqrelid = r.oid
  union all
  select 'trigger', format('%s.%I', r.full_name, t.tgname),
    format('%s enabled %s', pg_get_triggerdef(t.oid), t.tgenabled)
  from relations as r
  join pg_trigger as t on t.tgrelid = r.oid
  where not t.tgisinternal
  union all
  -- Those of foreign keys, whose names differ from database to database.
  select 'disabled triggers', r.full_name, count(*)::text
  from relations as r
  join pg_trigger as t on t.tgrelid = r.oid
  where t.tgisinternal and t.tgenabled <> 'O'
  group by r.full_name
  union all
  select 'policy', format('%s.%I', r.full_name, p.polname), format(
    '%s permissive %s for %s using %s check %s', p.polcmd, p.polpermissive,
    p.polroles::regrole[], pg_get_expr(p.polqual, p.polrelid),
    pg_get_expr(p.polwithcheck, p.polrelid)
  )
  from relations as r
  join pg_policy as p on p.polrelid = r.oid
  union all
  select 'rule', format('%s.%I', r.full_name, w.rulename), pg_get_ruledef(w.oid)
  from relations as r
  join pg_rewrite as w on w.ev_class = r.oid and w.rulename <> '_RETURN'
  union all
  select 'event trigger', e.evtname::text,
    format('on %s by %s enabled %s', e.evtevent, e.evtfoid::regprocedure, e.evtenabled)
  from pg_event_trigger as e
  where not exists (select from pg_depend as d where d.objid = e.oid and d.deptype = 'e')
  union all
  select 'function', f.full_name, format('owner %s %s', f.proowner::regrole, case
    when f.prokind = 'a' then (
      select format('%s %s %s', a.aggtransfn, a.aggfinalfn, a.agginitval)
      from pg_aggregate as a
      where a.aggfnoid = f.oid
    )
    else pg_get_functiondef(f.oid)
  end)
  from functions as f
  union all
  select 'options', r.full_name, array_to_string(r.reloptions, ', ')
  from relations as r
  where r.reloptions is not null
  union all
  select 'statistics', s.stxname::text, pg_get_statisticsobjdef(s.oid)
  from schemas as n
  join pg_statistic_ext as s on s.stxnamespace = n.oid
  union all
  select 'row', 'admin.commands ' || c.command, to_jsonb(c)::text
  from admin.commands as c
  union all
  select 'row', 'core.error_codes ' || e.code, to_jsonb(e)::text
  from core.error_codes as e
$$;

comment on function installer.schema_objects() is
  'Every object of the exchange''s schemas, which exchange_owner owns, with its definition as this '
  'version of PostgreSQL writes it; the event triggers of the database; and the rows of tables '
  'that only a release changes. Left out are '
  'partitions, comments, and grants to roles that are not the exchange''s.';
