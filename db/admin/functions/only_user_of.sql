create or replace function admin.only_user_of(basis jsonb)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select min(u.id)
  from jsonb_object_keys(only_user_of.basis -> 'users') as u (id)
  having count(*) = 1
$$;

comment on function admin.only_user_of(jsonb) is
  'The user whom a call is about that names no user, such as the owner of a key, from its '
  'admin.basis; null if there are none or several. Private to the schema.';
