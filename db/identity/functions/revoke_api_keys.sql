create or replace function identity.revoke_api_keys(key_ids bigint[])
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with revoked as (
    update identity.api_keys as k
    set revoked_at = coalesce(k.revoked_at, core.now())
    where k.id = any (revoke_api_keys.key_ids)
    returning k.public_id
  )
  insert into trading.outbox (channel, payload)
  select 'api_key_revoked', json_build_object('apiKeyId', r.public_id)
  from revoked as r
$$;

comment on function identity.revoke_api_keys(bigint[]) is
  'Revokes API keys, and writes an api_key_revoked event of each for the servers. Revoking one '
  'again changes nothing. Locks: the rows of the keys.';
