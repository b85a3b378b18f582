create or replace function api.get_link(token_hash bytea)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_link json;
begin
  select json_build_object(
    'kind', case l.kind when 'recovery' then 'password_reset' else l.kind end,
    'email', l.email,
    'account', identity.link_account(l.user_id),
    'waysIn', case
      when l.kind in ('password_reset', 'recovery') then identity.ways_in(l.user_id)
    end
  ) into v_link
  from identity.links as l
  where l.token_hash = get_link.token_hash
    and l.expires_at > core.now()
    and l.staff_id is null
    and (l.kind <> 'confirm_email' or exists (
      select
      from identity.email_claims as c
      where c.user_id = l.user_id
        and c.email = l.email
    ));
  if not found then
    perform core.raise_error('INVALID_LINK');
  end if;
  return v_link;
end
$$;

comment on function api.get_link(bytea) is
  'What a link will do, and to which account: the body of POST /api/account/link. It changes '
  'nothing. Errors: INVALID_LINK.';
