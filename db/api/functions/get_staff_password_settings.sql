create or replace function api.get_staff_password_settings(standard text, email text)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_decoy text := get_staff_password_settings.standard || '$' || rtrim(encode(substr(
    sha256(identity.decoy_secret() || convert_to(
      'staff ' || lower(get_staff_password_settings.email collate "C"), 'UTF8'
    )), 1, 16
  ), 'base64'), '=');
  v_kept text;
begin
  select s.password_hash into v_kept
  from identity.staff as s
  where lower(s.email collate "C") = lower(get_staff_password_settings.email collate "C")
    and s.removed_at is null;
  -- All before the digest, which is the part after the last dollar sign.
  return coalesce(left(v_kept, -strpos(reverse(v_kept), '$')), v_decoy);
end
$$;

comment on function api.get_staff_password_settings(text, text) is
  'How to hash a password so that it can be compared with that of a member of staff, as '
  'api.get_password_settings says it of users: for an address of nobody too.';
