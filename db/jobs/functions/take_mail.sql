create or replace function jobs.take_mail()
returns table (mail_id bigint, kind text, address text, details json, token text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
  v_mail identity.mails;
  v_owner_id bigint;
  v_owner_email text;
  v_is_claimed boolean;
begin
  perform core.check_session();
  loop
    -- Somebody waits for a mail with a link.
    select m.* into v_mail
    from identity.mails as m
    where m.due_at <= v_at
      and m.kind in ('confirm_email', 'password_reset', 'invitation') -- mutant: notices_before_links
    order by m.due_at
    limit 1
    for update skip locked; -- mutant: locked_mail_waited_for
    if not found then
      select m.* into v_mail
      from identity.mails as m
      where m.due_at <= v_at
      order by m.due_at
      limit 1
      for update skip locked;
    end if;
    if not found then
      return;
    end if;
    select u.id, u.email into v_owner_id, v_owner_email
    from identity.users as u
    where lower(u.email collate "C") = lower(v_mail.address collate "C")
      and identity.is_confirmed(u);
    v_is_claimed := exists (
      select
      from identity.email_claims as c
      where c.user_id = v_mail.user_id
        and c.email = v_mail.address
    );
    exit when case v_mail.kind
      when 'confirm_email' then v_is_claimed
      when 'password_reset' then v_owner_id is not null
      else true
    end;
    -- Nothing to send: no user has the address, or the user asked for another one meanwhile.
    delete from identity.mails as m
    where m.id = v_mail.id;
  end loop;

  update identity.mails as m set
    attempts = m.attempts + 1,
    due_at = case
      when m.attempts < 9 then v_at + least(power(2, m.attempts), 60) * interval '1 minute'
    end
  where m.id = v_mail.id;

  mail_id := v_mail.id;
  kind := v_mail.kind;
  address := v_mail.address;
  details := v_mail.details;
  if kind = 'confirm_email' and v_owner_id is not null then -- mutant: link_to_a_taken_address
    -- Only the owner of the address learns that it has an account.
    kind := 'address_taken';
  elsif kind = 'confirm_email' then
    -- Of a sign-up: so that the owner of the address sees whether it is the own one.
    select json_build_object('handle', c.handle, 'displayName', u.display_name) into details
    from identity.email_claims as c
    join identity.users as u on u.id = c.user_id
    where c.user_id = v_mail.user_id
      and c.handle is not null;
    details := coalesce(details, v_mail.details);
    token := identity.make_link(kind, v_mail.user_id, address, interval '3 days');
  elsif kind = 'password_reset' then
    address := v_owner_email; -- in other letters it may be another mailbox
    token := identity.make_link(kind, v_owner_id, null, interval '1 hour');
  elsif kind = 'invitation' then
    token := identity.make_link(kind, null, address, interval '14 days');
  end if;
  return next;
end
$$;

comment on function jobs.take_mail() is
  'The next mail to send, those with links first: one row, or none. A mail with a link has the '
  'link''s token, which is made for this attempt and not kept. Unless jobs.finish_mail is called, '
  'the mail is due again after a minute, and then after ever longer, 10 times. Errors: '
  'UNFIT_SESSION. Locks: the mail, none that it would wait for.';
