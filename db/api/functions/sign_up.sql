create or replace function api.sign_up(
  email text,
  password_hash text,
  display_name text default null,
  handle text default null,
  browser text default null,
  is_host_only boolean default false,
  ended_cookie_hash bytea default null,
  invitation_hash bytea default null,
  address inet default null,
  confirmed_age int default null,
  out user_id uuid,
  out email_confirmed boolean,
  out cookie text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings identity.settings;
  v_id uuid := core.uuid_v7();
  -- Nothing of the address: others see it.
  v_handle constant text := coalesce(
    sign_up.handle, 'trader-' || right(replace(v_id::text, '-', ''), 10)
  );
  v_invitation identity.links;
  v_user identity.users;
  v_constraint text;
  v_column text;
begin
  select s.* into strict v_settings
  from identity.settings as s;
  if v_settings.sign_up_policy = 'closed'
    or v_settings.sign_up_policy = 'invitation' and sign_up.invitation_hash is null
  then
    perform core.raise_error('SIGN_UP_CLOSED');
  end if;
  if sign_up.invitation_hash is not null then
    v_invitation := identity.take_link('invitation', sign_up.invitation_hash);
    if lower(v_invitation.email collate "C") <> lower(sign_up.email collate "C") then
      perform core.raise_error('INVALID_LINK', 'The invitation is for another e-mail address');
    end if;
  end if;

  email_confirmed := v_invitation.email is not null;
  insert into identity.users (public_id, email, display_name, handle)
  values (
    v_id,
    coalesce(v_invitation.email, identity.unconfirmed_email(v_id)),
    coalesce(sign_up.display_name, v_handle),
    case when email_confirmed then v_handle
      else 'new-' || right(replace(v_id::text, '-', ''), 16) end
  )
  returning * into v_user;
  insert into trading.traders (user_id, public_id)
  values (v_user.id, v_id);
  perform risk.confirm_age(v_user.id, sign_up.confirmed_age);
  perform identity.set_password(v_user.id, sign_up.password_hash);
  if not email_confirmed then
    insert into identity.email_claims (user_id, email, handle, created_at)
    values (v_user.id, sign_up.email, v_handle, core.now());
    perform identity.request_mail('confirm_email', v_user.id, sign_up.email);
  end if;
  if v_settings.play_money_cents > 0 then
    perform ledger.move_cash(v_id, 'bonus', v_settings.play_money_cents, 'play money');
  end if;
  user_id := v_id;
  cookie := identity.open_session(
    v_user.id, sign_up.browser, sign_up.is_host_only, sign_up.ended_cookie_hash,
    sign_up.address
  );
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    -- Only an invited user can meet it, whose address is proven.
    get stacked diagnostics v_constraint = constraint_name;
    perform identity.raise_taken(v_constraint);
end
$$;

comment on function api.sign_up(text, text, text, text, text, boolean, bytea, bytea, inet, int) is
  'Makes an account with a session, and returns the session''s cookie, which is not kept. The '
  'address and the handle are the user''s once the link in the mail is followed '
  '(api.confirm_email), or at once with an invitation to this address, which is then kept as the '
  'invitation has it. Until then nothing depends on whether they are taken, so sign-up does not '
  'show who has an account. Without a handle one is made, and without a name the handle is '
  'shown. password_hash is argon2id in PHC form. confirmed_age: see risk.confirm_age. Errors: '
  'SIGN_UP_CLOSED, INVALID_LINK, INVALID_REQUEST, AGE_NOT_CONFIRMED, ALREADY_EXISTS (with an '
  'invitation). Locks: with play money, the outside world.';
