create or replace function identity.insert_staff_passkey(
  staff_id bigint, credential_id bytea, public_key bytea, sign_count bigint, transports text[],
  name text
)
returns void
language plpgsql volatile
as $$
declare
  c_most constant int := 20;
  v_constraint text;
  v_column text;
begin
  if (
    select count(*)
    from identity.staff_passkeys as p
    where p.staff_id = insert_staff_passkey.staff_id
  ) >= c_most then
    perform core.raise_error(
      'INVALID_STATE', format('A member of staff has at most %s passkeys', c_most)
    );
  end if;
  insert into identity.staff_passkeys (
    staff_id, credential_id, public_key, sign_count, transports, name, created_at
  )
  values (
    insert_staff_passkey.staff_id, insert_staff_passkey.credential_id,
    insert_staff_passkey.public_key, insert_staff_passkey.sign_count,
    array(
      select distinct t.name
      from unnest(insert_staff_passkey.transports) as t (name)
      order by t.name
    ),
    insert_staff_passkey.name, core.now()
  );
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    perform core.raise_error('ALREADY_EXISTS', 'This passkey is registered already');
end
$$;

comment on function identity.insert_staff_passkey(bigint, bytea, bytea, bigint, text[], text) is
  'Adds a passkey of a member of staff, whom the caller has locked; at most 20. Errors: '
  'INVALID_REQUEST, INVALID_STATE, ALREADY_EXISTS.';
