create or replace function identity.acting(
  out login text, out staff_key text, out staff_id bigint, out name text, out roles text[]
)
language plpgsql stable
as $$
declare
  v_credential constant text := coalesce(current_setting('exchange.credential', true), '');
  v_hash bytea;
  v_of_login identity.staff;
begin
  login := session_user::text;
  -- If several people had the login, the one who is staff.
  select s.* into v_of_login
  from identity.staff as s
  where s.login = session_user
  order by s.removed_at desc nulls first
  limit 1;
  if v_of_login.removed_at is not null then
    perform core.raise_error(
      'UNAUTHORIZED', format('The login %s is of a person who is not staff any more', login)
    );
  end if;
  if v_credential = '' then
    staff_id := v_of_login.id;
    name := v_of_login.name;
    roles := v_of_login.roles;
    return;
  end if;

  if v_credential ~ '^[0-9a-f]{64}$' then
    v_hash := sha256(decode(v_credential, 'hex'));
  end if;
  select c.staff_key, c.id, c.name, c.roles into staff_key, staff_id, name, roles
  from (
    select null as staff_key, m.id, m.name, m.roles
    from identity.staff_sessions as s
    join identity.staff as m on m.id = s.staff_id
    where s.cookie_hash = v_hash
      and s.expires_at > core.now()
      and m.removed_at is null
    union all
    select k.name, m.id, m.name, m.roles
    from identity.staff_keys as k
    left join identity.staff as m on m.id = k.staff_id
    where k.key_hash = v_hash
      and k.role = 'operator'
      and k.revoked_at is null
      and m.removed_at is null
  ) as c;
  if not found or v_of_login.id is not null and staff_id is distinct from v_of_login.id then
    perform core.raise_error('UNAUTHORIZED', 'The session or key is not valid here');
  end if;
end
$$;

comment on function identity.acting() is
  'Who acts in this transaction: the login of the database, the name of the operator''s key, and '
  'the member of staff with name and roles, each null if there is none. The setting '
  'exchange.credential proves it: the SHA-256, in hex, of an operator''s key or of the cookie of a '
  'session of staff, which is looked up at each call. Without it, the login is the member of staff '
  'who is linked with it, or nobody. Errors: UNAUTHORIZED (a credential that is not in force; one '
  'of somebody else than the member of staff whose login it is; the login of one who was removed).';
