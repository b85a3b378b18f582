create or replace function api.get_browser_mark(email text default null, user_id uuid default null)
returns text
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select encode(sha256(
    identity.decoy_secret() || convert_to('browser ' || lower(x.email collate "C"), 'UTF8')
  ), 'hex')
  from (
    select coalesce(get_browser_mark.email, (
      select u.email
      from identity.users as u
      where u.public_id = get_browser_mark.user_id
        and identity.is_confirmed(u)
    ))
  ) as x (email)
$$;

comment on function api.get_browser_mark(text, uuid) is
  'What a browser keeps in which the user of an e-mail address has signed in, so that attempts of '
  'strangers do not count against it. It depends on the address alone, and not on whether there is '
  'an account. By the id of a user it is null until the address is confirmed.';
