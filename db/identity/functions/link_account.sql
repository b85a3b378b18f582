create or replace function identity.link_account(user_id bigint)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'displayName', u.display_name,
    'handle', coalesce(c.handle, u.handle),
    'presentEmail', case when identity.is_confirmed(u) then identity.masked_email(u.email) end
  )
  from identity.users as u
  left join identity.email_claims as c on c.user_id = u.id
  where u.id = link_account.user_id
$$;

comment on function identity.link_account(bigint) is
  'How the mail and the page of a link name its account: displayName, handle (of a sign-up the one '
  'that was asked for) and presentEmail, masked, or null before the first address is confirmed.';
