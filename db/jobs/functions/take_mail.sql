create or replace function jobs.take_mail(
  token_hash bytea,
  lanes text[] default '{links,sign_ups,notices}',
  under_way text[] default '{}'
)
returns table (mail_id bigint, kind text, address text, details json)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  -- What remains is due, and the worker calls again.
  c_looks_at_most constant int := 1000;
  c_put_off constant interval := '1 second';
  c_waits_at_most constant interval := '24 hours';
  c_claims_at_most constant int := 100;
  c_goes_behind constant int := 100;
  v_at timestamptz := core.now();
  v_domains constant text[] := array(
    select identity.mail_domain(u.address)
    from unnest(take_mail.under_way) as u (address)
  );
  v_lane text;
  v_mail identity.mails;
  v_account_id bigint;
  v_owner_id bigint;
  v_owner_email text;
  v_staff_id bigint;
  v_seconds int;
  v_waiting bigint[];
  v_looks int := 0;
begin
  perform core.check_session();
  loop
    if v_looks >= c_looks_at_most then
      return;
    end if;
    v_looks := v_looks + 1;
    foreach v_lane in array take_mail.lanes loop
      select m.* into v_mail
      from identity.mails as m
      where m.due_at <= v_at
        and case
          when m.kind in ('password_reset', 'recovery', 'staff_invitation') then 'links'
          when m.kind in ('confirm_email', 'invitation') then 'sign_ups'
          else 'notices'
        end = v_lane
        and identity.mail_domain(m.address) <> all (v_domains)
      order by m.attempts > 0, m.due_at, m.id
      limit 1
      for update skip locked;
      exit when v_mail.id is not null;
    end loop;
    if v_mail.id is null then
      return;
    end if;
    if v_mail.kind = 'staff_invitation' then
      select s.id into v_staff_id
      from identity.staff as s
      where lower(s.email collate "C") = lower(v_mail.address collate "C")
        and s.removed_at is null;
      exit when found;
      delete from identity.mails as m
      where m.id = v_mail.id;
      continue;
    end if;
    exit when v_mail.kind not in ('confirm_email', 'password_reset', 'recovery');

    -- What else waits to say the same is said by this one.
    delete from identity.mails as m
    where m.id = any (array(
      select x.id
      from identity.mails as x
      where lower(x.address collate "C") = lower(v_mail.address collate "C")
        and x.kind = v_mail.kind
        and x.user_id is not distinct from v_mail.user_id
        and x.due_at is not null
        and x.attempts = 0
        and x.id <> v_mail.id
      for update skip locked
    ));
    -- A link is made of an account that nobody changes: what ends links is before this, or sees it.
    v_account_id := coalesce(v_mail.user_id, (
      select u.id
      from identity.users as u
      where lower(u.email collate "C") = lower(v_mail.address collate "C")
    ));
    perform
    from identity.users as u
    where u.id = v_account_id
    for no key update skip locked;
    if not found and v_account_id is not null then
      update identity.mails as m set due_at = v_at + c_put_off
      where m.id = v_mail.id;
      continue;
    end if;
    v_seconds := null;
    if v_mail.attempts = 0 then
      select case when not r.allowed then r.retry_after_seconds end into v_seconds
      from api.count_requests(json_build_array(json_build_object(
        'mail-account', v_mail.kind || ' ' || encode(
          sha256(convert_to(lower(v_mail.address collate "C"), 'UTF8')), 'hex'
        )
      ))) as r;
    end if;
    if v_seconds is not null then
      -- For all mails of the mailbox at once: looking at each would keep others waiting.
      v_waiting := array(
        select x.id
        from identity.mails as x
        where lower(x.address collate "C") = lower(v_mail.address collate "C")
          and x.kind = v_mail.kind
          and x.due_at <= v_at
          and x.attempts = 0
        for update skip locked
      );
      delete from identity.mails as m
      where m.id = any (v_waiting)
        and m.created_at <= v_at - c_waits_at_most;
      update identity.mails as m set due_at = v_at + make_interval(secs => v_seconds)
      where m.id = any (v_waiting);
      v_looks := v_looks + cardinality(v_waiting);
      continue;
    end if;

    select u.id, u.email into v_owner_id, v_owner_email
    from identity.users as u
    where lower(u.email collate "C") = lower(v_mail.address collate "C")
      and identity.is_confirmed(u);
    exit when case v_mail.kind
      when 'confirm_email' then exists (
        select
        from identity.email_claims as c
        where c.user_id = v_mail.user_id
          and c.email = v_mail.address
      )
      else v_owner_id = v_account_id
    end;
    -- Who signed up and has never confirmed the address can only do that.
    if v_mail.kind = 'password_reset' and v_owner_id is null then
      perform identity.request_mail('confirm_email', c.user_id, c.email)
      from (
        select x.user_id, x.email
        from identity.email_claims as x
        where lower(x.email collate "C") = lower(v_mail.address collate "C")
          and x.handle is not null
        order by x.created_at desc
        limit c_claims_at_most
      ) as c;
    end if;
    -- Nothing to send: no user has the address, or the user asked for another one meanwhile.
    delete from identity.mails as m
    where m.id = v_mail.id;
  end loop;

  -- The mailbox has had its turn: what else of this kind waits for it goes behind the others.
  update identity.mails as m set due_at = v_at
  where m.id = any (array(
    select x.id
    from identity.mails as x
    where lower(x.address collate "C") = lower(v_mail.address collate "C")
      and x.kind = v_mail.kind
      and x.due_at < v_at
      and x.attempts = 0
      and x.id <> v_mail.id
    limit c_goes_behind
    for update skip locked
  ));
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
  if kind = 'confirm_email' and v_owner_id is not null then
    -- Only the owner of the address learns that it has an account.
    kind := 'address_taken';
  elsif kind = 'confirm_email' then
    -- So that the owner of the address sees whether the account is the own one.
    details := identity.link_account(v_mail.user_id);
    perform identity.add_link(
      take_mail.token_hash, kind, v_mail.user_id, address, interval '72 hours'
    );
  elsif kind = 'password_reset' then
    address := v_owner_email; -- in other letters it may be another mailbox
    details := identity.link_account(v_owner_id);
    perform identity.add_link(take_mail.token_hash, kind, v_owner_id, null, interval '1 hour');
  elsif kind = 'recovery' then
    perform identity.add_link(take_mail.token_hash, kind, v_owner_id, null, interval '72 hours');
  elsif kind = 'invitation' then
    perform identity.add_link(take_mail.token_hash, kind, null, address, interval '336 hours');
  elsif kind = 'staff_invitation' then
    perform identity.add_link(
      take_mail.token_hash, kind, null, null, interval '72 hours', staff_id => v_staff_id
    );
  end if;
  return next;
end
$$;

comment on function jobs.take_mail(bytea, text[], text[]) is
  'The next mail to send: one row, or none. Lanes: links (password_reset, recovery, '
  'staff_invitation), sign_ups (confirm_email, invitation), notices (the others). It is of the '
  'first of the asked lanes in which one is due, and to no identity.mail_domain of the addresses '
  'to which mails are under way. In a lane those not tried yet come first, and of these the one '
  'that is due for longest. The others of its kind for its mailbox, 100 at most, go behind all '
  'that are due. Its link, if it has one (confirm_email, password_reset, recovery, invitation, '
  'staff_invitation), has the token with this SHA-256, which the caller has made for this '
  'attempt. Unless jobs.finish_mail is called, the mail is due again after a minute, and then '
  'after ever longer, 10 times. A mail that users asked for waits while its mailbox has had as '
  'many of its kind as the bucket mail-account allows, for a day at most; all that are due there '
  'wait together. One call ends after 1,000 mails that it did not send, so it may return none '
  'while some are due. Errors: UNFIT_SESSION. Locks: the mails and the account, none that it '
  'would wait for; the counters of the mailboxes.';
