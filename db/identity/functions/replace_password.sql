create or replace function identity.replace_password(
  user_id bigint,
  password_hash text,
  browser text,
  is_host_only boolean,
  address inet,
  details json default '{}',
  keeps_sessions boolean default false
)
returns text
language plpgsql volatile
as $$
begin
  perform identity.lock_account(replace_password.user_id);
  perform identity.set_password(replace_password.user_id, replace_password.password_hash);
  -- Before the links: a mail that waits, or is tried again, would make another one.
  delete from identity.mails as m
  using identity.users as u
  where u.id = replace_password.user_id
    and m.due_at is not null
    and (
      (m.kind = 'recovery' and m.user_id = u.id)
      or (
        m.kind = 'password_reset'
        and lower(m.address collate "C") = lower(u.email collate "C")
      )
    );
  delete from identity.links as l
  where l.user_id = replace_password.user_id
    and l.kind in ('password_reset', 'recovery', 'sign_in');
  -- Who knew the password before may have asked for another address. A sign-up stays.
  delete from identity.email_claims as c
  where c.user_id = replace_password.user_id
    and c.handle is null;
  delete from identity.links as l
  where l.user_id = replace_password.user_id
    and l.kind = 'confirm_email'
    and not exists (
      select from identity.email_claims as c where c.user_id = replace_password.user_id
    );
  update identity.users as u
  set browser_generation = u.browser_generation + 1
  where u.id = replace_password.user_id
    and not replace_password.keeps_sessions;
  perform identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    where s.user_id = replace_password.user_id
      and not replace_password.keeps_sessions
  ));
  perform identity.notify_user(
    'password_changed', replace_password.user_id, replace_password.details
  );
  return identity.open_session(
    replace_password.user_id, replace_password.browser, replace_password.is_host_only, null,
    replace_password.address
  );
end
$$;

comment on function identity.replace_password(
  bigint, text, text, boolean, inet, json, boolean
) is
  'Sets a password, ends all sessions and the marks of known browsers (unless sessions are kept), '
  'links and a change of address of the user, the mails of resets and recoveries that wait, and '
  'opens a session, whose cookie it returns. The link of a sign-up stays. A mail with these '
  'details reports it. Locks: the account, the mails, the claim, the row of the password, the '
  'rows of links and sessions.';
