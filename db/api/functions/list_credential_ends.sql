create or replace function api.list_credential_ends(credential_ids uuid[])
returns table (credential_id uuid, ends_in_ms double precision)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    i.id,
    case
      when c.is_valid then ceil(extract(epoch from c.expires_at - core.now()) * 1000)
      else 0
    end
  from unnest(list_credential_ends.credential_ids) as i (id)
  left join lateral (
    select true as is_valid, k.expires_at
    from identity.api_keys as k
    where k.public_id = i.id
      and identity.is_key_in_force(k)
    union all
    select true, s.expires_at
    from identity.sessions as s
    where s.public_id = i.id
      and s.expires_at > core.now()
  ) as c on true
$$;

comment on function api.list_credential_ends(uuid[]) is
  'In how many milliseconds each of these API keys and sessions ends: 0 if it has ended, null if '
  'it has no end. For streams, which outlive the check of the request that opened them.';
