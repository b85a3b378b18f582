create or replace function identity.user_id(user_id uuid)
returns bigint
language plpgsql stable
as $$
declare
  v_id bigint;
begin
  select u.id into v_id
  from identity.users as u
  where u.public_id = user_id.user_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format(
      'There is no user %s', coalesce(user_id.user_id::text, 'null')
    ));
  end if;
  return v_id;
end
$$;

comment on function identity.user_id(uuid) is
  'The key of a user by its public id. Errors: NOT_FOUND.';
