create or replace function api.get_browser_mark(email text default null, user_id uuid default null)
returns text
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select encode(sha256(identity.decoy_secret() || convert_to(
    format('browser %s %s', lower(x.email collate "C"), coalesce(o.browser_generation, 0)), 'UTF8'
  )), 'hex')
  from (
    select coalesce(get_browser_mark.email, (
      select u.email
      from identity.users as u
      where u.public_id = get_browser_mark.user_id
        and identity.is_confirmed(u)
    ))
  ) as x (email)
  left join identity.users as o on lower(o.email collate "C") = lower(x.email collate "C")
  where x.email is not null
$$;

comment on function api.get_browser_mark(text, uuid) is
  'What a browser keeps in which the user of an e-mail address has signed in, so that attempts of '
  'strangers do not count against it. Every address has one, with an account or without. It is '
  'another one after identity.end_ways_in and a new password. By the id of a user it is null '
  'until the address is confirmed.';
