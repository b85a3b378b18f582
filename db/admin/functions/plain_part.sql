create or replace function admin.plain_part(command text, arguments jsonb)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select plain_part.arguments
    - array(select jsonb_object_keys(admin.personal_part(plain_part.command, plain_part.arguments)))
$$;

comment on function admin.plain_part(text, jsonb) is
  'The arguments of a command without admin.personal_part. Private to the schema.';
