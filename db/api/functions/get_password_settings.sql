create or replace function api.get_password_settings(
  standard text, email text default null, user_id uuid default null, link_hash bytea default null
)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := coalesce(
    lower(get_password_settings.email collate "C"), get_password_settings.user_id::text,
    encode(get_password_settings.link_hash, 'hex')
  );
  v_decoy text := get_password_settings.standard || '$' || rtrim(encode(substr(
    sha256(identity.decoy_secret() || convert_to(v_name, 'UTF8')), 1, 16
  ), 'base64'), '=');
  v_user_id bigint;
  v_kept text;
begin
  if get_password_settings.link_hash is not null then
    select l.user_id into v_user_id
    from identity.links as l
    where l.token_hash = get_password_settings.link_hash
      and l.kind = 'confirm_email';
  elsif get_password_settings.user_id is null then
    select u.id into v_user_id
    from identity.users as u
    where lower(u.email collate "C") = lower(get_password_settings.email collate "C")
      and identity.is_confirmed(u);
  else
    select u.id into v_user_id
    from identity.users as u
    where u.public_id = get_password_settings.user_id;
  end if;
  select p.password_hash into v_kept
  from identity.passwords as p
  where p.user_id = v_user_id;
  -- All before the digest, which is the part after the last dollar sign.
  return coalesce(left(v_kept, -strpos(reverse(v_kept), '$')), v_decoy);
end
$$;

comment on function api.get_password_settings(text, text, uuid, bytea) is
  'How to hash a password so that it can be compared with that of a user, by e-mail, by id or by '
  'a link that confirms an address: argon2id''s parameters and salt in PHC form. For an address '
  'without an account, a link that is none, and a user without a password, the standard '
  'parameters given (as $argon2id$v=19$m=...,t=...,p=...) and a salt that is the same each time.';
