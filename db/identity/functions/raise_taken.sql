create or replace function identity.raise_taken(constraint_name text)
returns void
language plpgsql
as $$
begin
  perform core.raise_error('ALREADY_EXISTS', case raise_taken.constraint_name
    when 'users_handle_is_unique' then 'This handle is taken'
    else 'This e-mail address has an account'
  end);
end
$$;

comment on function identity.raise_taken(text) is
  'Raises ALREADY_EXISTS for the unique constraint of identity.users that was violated.';
