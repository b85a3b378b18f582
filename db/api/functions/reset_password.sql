create or replace function api.reset_password(
  token_hash bytea,
  password_hash text,
  browser text default null,
  is_host_only boolean default false,
  challenge bytea default null,
  credential_id bytea default null,
  user_handle uuid default null,
  sign_count bigint default null,
  address inet default null,
  out user_id uuid,
  out cookie text,
  out ways_in json
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keeps boolean := reset_password.credential_id is not null;
  v_link identity.links;
begin
  perform core.check_session();
  -- Of the user of the link: no two accounts are locked.
  if v_keeps and (
    exists (
      select
      from identity.links as l
      join identity.users as u on u.id = l.user_id
      where l.token_hash = reset_password.token_hash
        and u.public_id is distinct from reset_password.user_handle
    )
    or identity.use_passkey(
      reset_password.challenge, reset_password.credential_id, reset_password.user_handle,
      reset_password.sign_count, reset_password.address
    ) is null
  ) then
    perform core.raise_error('INVALID_PASSKEY');
  end if;
  v_link := identity.take_link(
    coalesce(
      (
        select l.kind
        from identity.links as l
        where l.token_hash = reset_password.token_hash
          and l.kind = 'recovery'
      ),
      'password_reset'
    ),
    reset_password.token_hash
  );
  if v_link.kind <> 'recovery' then
    perform identity.check_not_frozen(v_link.user_id);
  end if;
  select u.public_id into strict user_id
  from identity.users as u
  where u.id = v_link.user_id;
  if not v_keeps then
    perform identity.end_ways_in(v_link.user_id);
  end if;
  cookie := identity.replace_password(
    user_id => v_link.user_id,
    password_hash => reset_password.password_hash,
    browser => reset_password.browser,
    is_host_only => reset_password.is_host_only,
    address => reset_password.address,
    details => json_build_object('kept', v_keeps),
    keeps_sessions => v_keeps
  );
  ways_in := identity.ways_in(v_link.user_id);
end
$$;

comment on function api.reset_password(
  bytea, text, text, boolean, bytea, bytea, uuid, bigint, inet
) is
  'Sets the password of the user of a link and opens a session, whose cookie it returns, with the '
  'ways in that remain. All sessions, passkeys and API keys end before, unless a passkey of the '
  'user has signed a challenge, as for api.sign_in_by_passkey. In a frozen account only the link '
  'of admin.recover_account is good. Errors: INVALID_LINK, INVALID_PASSKEY, ACCOUNT_FROZEN (then '
  'nothing changes), UNFIT_SESSION. Locks: the challenge, the account, the '
  'passkeys, the link, the row of the password, the rows of the sessions and keys.';
