create or replace function identity.verify_calls()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  calls as materialized (
    select
      a.id, a.at, a.action, a.arguments || coalesce(p.arguments, '{}') as arguments,
      coalesce(s.name, a.operator) || coalesce(' (' || a.staff_key || ')', '') as caller,
      s.public_id as staff_id,
      a.arguments ->> 'user_id' as user_id,
      a.arguments ->> 'key_id' as key_id,
      case a.action when 'erase_user' then 'erased' else p.arguments ->> 'reason' end
        as reason
    from admin.audit_log as a
    left join admin.personal_arguments as p on p.audit_id = a.id
    left join identity.staff as s on s.id = a.staff_id
    where a.action in (
      'create_user', 'recover_account', 'erase_user', 'freeze_user', 'unfreeze_user',
      'create_api_key', 'rotate_api_key', 'revoke_api_key', 'create_staff_key', 'revoke_staff_key'
    )
  ),
  -- A call has locked the user before it is noted.
  freezes as (
    select distinct on (x.user_id)
      x.user_id, x.action, x.caller, x.reason,
      min(x.at) filter (where x.action <> 'unfreeze_user') over (
        partition by x.user_id, x.thaws
      ) as at
    from (
      select c.*,
        count(*) filter (where c.action = 'unfreeze_user') over (
          partition by c.user_id order by c.id
        ) as thaws
      from calls as c
      where c.action in ('freeze_user', 'unfreeze_user')
        or c.action = 'erase_user' and c.arguments @> '{"erased": true}'
    ) as x
    order by x.user_id, x.id desc
  ),
  frozen as (
    select f.user_id, f.at, concat_ws(' ', f.caller, 'for', f.reason) as terms
    from freezes as f
    where f.action <> 'unfreeze_user'
  ),
  frozen_traders as (
    select t.public_id::text as user_id, t.frozen_at as at,
      concat_ws(' ', t.frozen_by, 'for', t.frozen_reason) as terms
    from trading.traders as t
    where num_nonnulls(t.frozen_at, t.frozen_by, t.frozen_reason) > 0
  ),
  keys as (
    select
      k.public_id::text as key_id, k.expires_at, k.revoked_at,
      exists (select from identity.api_keys as n where n.replaces = k.id) as is_rotated,
      concat_ws(
        ' ', 'of user', u.public_id, k.name, to_jsonb(k.scopes), to_jsonb(k.allowed_addresses)
      ) as terms
    from identity.api_keys as k
    join identity.users as u on u.id = k.user_id
  ),
  staff_keys as (
    select
      k.public_id::text as key_id,
      concat_ws(' ', k.role, k.name, 'of staff ' || s.public_id) as terms,
      k.created_at, k.revoked_at
    from identity.staff_keys as k
    left join identity.staff as s on s.id = k.staff_id
  ),
  made_staff_keys as (
    select
      c.key_id,
      min(concat_ws(
        ' ', c.arguments ->> 'role', c.arguments ->> 'name', 'of staff ' || c.staff_id
      )) filter (where c.action = 'create_staff_key') as terms,
      min(c.at) filter (where c.action = 'create_staff_key') as created_at,
      min(c.at) filter (where c.action = 'revoke_staff_key') as revoked_at
    from calls as c
    where c.action in ('create_staff_key', 'revoke_staff_key')
    group by c.key_id
  )
  select 'user whom an operator made is there', 'user ' || c.user_id, c.at::text,
    coalesce(u.created_at::text, 'none')
  from calls as c
  left join identity.users as u on u.public_id::text = c.user_id
  where c.action = 'create_user'
    and core.is_within_an_hour(u.created_at, c.at) is not true

  -- A sign-up leaves a password. Only the recovery of the account takes it away, or the end of an
  -- account whose address was never confirmed.
  union all
  select 'user was made by an operator or has signed up', 'user ' || u.id, 'a call or a password',
    'none'
  from identity.users as u
  where u.email <> identity.unconfirmed_email(u.public_id)
    and not exists (select from identity.passwords as p where p.user_id = u.id)
    and not exists (
      select
      from calls as c
      where c.action in ('create_user', 'recover_account')
        and c.user_id = u.public_id::text
    )

  union all
  select 'account is frozen as was called for', 'user ' || coalesce(t.user_id, f.user_id),
    coalesce(f.terms || ', ' || f.at, 'not frozen'), coalesce(t.terms || ', ' || t.at, 'not frozen')
  from frozen_traders as t
  full join frozen as f on f.user_id = t.user_id
  where t.terms is distinct from f.terms
    or core.is_within_an_hour(t.at, f.at) is not true

  union all
  select 'account is erased as was called for', 'user ' || coalesce(u.public_id::text, c.user_id),
    coalesce(c.at::text, 'not erased'), coalesce(u.erased_at::text, 'not erased')
  from (
    select x.public_id, x.erased_at from identity.users as x where x.erased_at is not null
  ) as u
  full join (
    select x.user_id, x.at
    from calls as x
    where x.action = 'erase_user'
      and x.arguments @> '{"erased": true}'
  ) as c on c.user_id = u.public_id::text
  where core.is_within_an_hour(u.erased_at, c.at) is not true

  -- The rotation of a key may let it expire sooner.
  union all
  select 'API key is what was called for', 'key ' || c.key_id,
    c.terms || coalesce(' until ' || c.expires_at, ''),
    coalesce(k.terms || coalesce(' until ' || k.expires_at, ''), 'none')
  from (
    select
      x.key_id, core.time_of(x.arguments ->> 'expires_at') as expires_at,
      concat_ws(
        ' ', 'of user', x.user_id, coalesce(x.arguments ->> 'name', 'erased'),
        x.arguments -> 'scopes',
        nullif(x.arguments -> 'allowed_addresses', 'null')
      ) as terms
    from calls as x
    where x.action = 'create_api_key'
  ) as c
  left join keys as k on k.key_id = c.key_id
  where k.terms is distinct from c.terms
    or k.expires_at is distinct from c.expires_at
      and not (k.is_rotated and k.expires_at < coalesce(c.expires_at, 'infinity'))

  union all
  select 'API key takes the place of the one that was rotated',
    'key ' || (c.arguments ->> 'new_key_id'), coalesce(c.key_id, 'a key'),
    coalesce(o.public_id::text, 'none')
  from calls as c
  left join identity.api_keys as n on n.public_id::text = c.arguments ->> 'new_key_id'
  left join identity.api_keys as o on o.id = n.replaces
  where c.action = 'rotate_api_key'
    and o.public_id::text is distinct from c.key_id

  union all
  select 'API key that an operator ended has its end', 'key ' || c.key_id, 'ended by call ' || c.id,
    'none'
  from calls as c
  left join keys as k on k.key_id = c.key_id
  where c.action in ('revoke_api_key', 'rotate_api_key')
    and k.revoked_at is null
    and (c.action = 'revoke_api_key' or k.expires_at is null)

  union all
  select 'staff key is what was called for', 'staff key ' || coalesce(k.key_id, c.key_id),
    coalesce(concat_ws(', ', c.terms, c.created_at, 'revoked ' || c.revoked_at), 'none'),
    coalesce(concat_ws(', ', k.terms, k.created_at, 'revoked ' || k.revoked_at), 'none')
  from staff_keys as k
  full join made_staff_keys as c on c.key_id = k.key_id
  where k.terms is distinct from c.terms
    or not core.is_within_an_hour(k.created_at, c.created_at)
    or (k.revoked_at is null) <> (c.revoked_at is null)
    or not core.is_within_an_hour(k.revoked_at, c.revoked_at)
$$;

comment on function identity.verify_calls() is
  'The part of ledger.verify() about operators'' calls for accounts and keys: users, freezes, API '
  'keys and staff keys are as the calls in admin.audit_log say. One row for each broken invariant.';
