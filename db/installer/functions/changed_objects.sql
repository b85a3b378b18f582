create or replace function installer.changed_objects()
returns table (object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  last_installation as (
    select i.server_version = current_setting('server_version_num')::int / 10000 as is_of_server
    from installer.installations as i
    order by i.id desc
    limit 1
  ),
  installed as (
    select o.kind, o.name, o.hash
    from installer.objects as o
    where exists (select from last_installation as l where l.is_of_server)
  ),
  present as (
    select s.kind, s.name, md5(s.definition) as hash
    from installer.schema_objects() as s
    where exists (select from last_installation as l where l.is_of_server)
  )
  select coalesce(i.kind, p.kind) || ' ' || coalesce(i.name, p.name), i.hash, p.hash
  from installed as i
  full join present as p on p.kind = i.kind and p.name = i.name
  where i.hash is distinct from p.hash
    -- An administrator may tune tables, and add what changes no result.
    and coalesce(i.kind, p.kind) not in ('options', 'statistics')
    and (
      i.hash is not null
      or p.kind in (
        'constraint', 'disabled triggers', 'event trigger', 'function', 'grant', 'policy', 'row',
        'rule', 'trigger'
      )
    )
  order by 1
$$;

comment on function installer.changed_objects() is
  'The objects of the schema that are not as the last installation left them, with an MD5 of both '
  'definitions: a function that was replaced, a trigger that is gone or new. None in a database '
  'without an installation, or if it has moved to another major version of PostgreSQL: '
  'npm run migrate then notes the objects anew.';
