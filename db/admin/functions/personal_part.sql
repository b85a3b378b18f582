create or replace function admin.personal_part(command text, arguments jsonb)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(a.name, a.value), '{}')
  from jsonb_each(personal_part.arguments) as a (name, value)
  join admin.commands as c on a.name = any (c.personal)
  where c.command = personal_part.command
    and a.value <> 'null'
$$;

comment on function admin.personal_part(text, jsonb) is
  'Those of the arguments of a command that say something about a person, but for nulls. Private '
  'to the schema.';
