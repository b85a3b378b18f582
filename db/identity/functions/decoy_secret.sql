create or replace function identity.decoy_secret()
returns bytea
language plpgsql volatile
as $$
declare
  v_secret bytea := (select s.decoy_secret from identity.settings as s);
begin
  if v_secret is null then
    update identity.settings as s
    set decoy_secret = coalesce(
      s.decoy_secret, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
    )
    returning s.decoy_secret into v_secret;
  end if;
  return v_secret;
end
$$;

comment on function identity.decoy_secret() is
  'The secret from which salts for addresses without an account are made; the first call makes it. '
  'Locks: the first call, identity.settings.';
