create or replace function api.get_browser_mark(
  email text default null, user_id uuid default null, credential_id bytea default null
)
returns text
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select encode(sha256(identity.decoy_secret() || convert_to(
    format(
      'browser %s %s',
      coalesce(x.id::text, lower(get_browser_mark.email collate "C")),
      coalesce(o.browser_generation, 0)
    ),
    'UTF8'
  )), 'hex')
  from (
    select case
      when get_browser_mark.email is not null then (
        select u.id
        from identity.users as u
        where lower(u.email collate "C") = lower(get_browser_mark.email collate "C")
      )
      else (
        select u.id
        from identity.users as u
        where u.public_id = get_browser_mark.user_id
          and identity.is_confirmed(u)
          and (
            get_browser_mark.credential_id is null
            or exists (
              select
              from identity.passkeys as p
              where p.user_id = u.id
                and p.credential_id = get_browser_mark.credential_id
            )
          )
      )
    end
  ) as x (id)
  left join identity.users as o on o.id = x.id
  where coalesce(x.id::text, get_browser_mark.email) is not null
$$;

comment on function api.get_browser_mark(text, uuid, bytea) is
  'What a browser keeps in which the user of an e-mail address has signed in, so that attempts of '
  'strangers do not count against it. Every address has one, with an account or without. It is '
  'another one after identity.end_ways_in and a new password. By the id of a user it is null '
  'until the address is confirmed, and if credential_id is no passkey of this user.';
