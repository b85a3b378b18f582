create or replace function admin.erase_user(user_id uuid, reason text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.user_id(erase_user.user_id);
  v_user identity.users;
  v_emails text[];
  v_audit_id bigint;
begin
  perform admin.check_approval('erase_user');
  perform core.check_reason(erase_user.reason);
  perform identity.lock_account(v_user_id);
  perform identity.lock_user(erase_user.user_id);
  select u.* into strict v_user
  from identity.users as u
  where u.id = v_user_id;
  if v_user.erased_at is null then
    perform admin.check_erasable(v_user);
  end if;
  v_audit_id := admin.audit('erase_user', jsonb_build_object(
    'user_id', erase_user.user_id,
    'reason', erase_user.reason,
    'erased', v_user.erased_at is null
  ));
  if v_user.erased_at is not null then
    return;
  end if;

  v_emails := array(
    select lower(x.email collate "C")
    from (
      select v_user.email
      union
      -- Notices go to addresses that were confirmed.
      select m.address
      from identity.mails as m
      where m.user_id = v_user_id
        and m.kind <> 'confirm_email'
      union
      select e.email
      from admin.personal_arguments as p
      cross join lateral (
        values
          (p.arguments ->> 'email'),
          (p.arguments ->> 'email_before'),
          (p.arguments #>> '{arguments,email}')
      ) as e (email)
      where p.user_id = erase_user.user_id
    ) as x (email)
    where not exists (
      select
      from identity.users as o
      where lower(o.email collate "C") = lower(x.email collate "C")
        and o.id <> v_user_id
    )
  );
  update trading.traders as t set
    frozen_at = coalesce(t.frozen_at, core.now()),
    frozen_by = (
      select coalesce(a.name, a.login) || coalesce(' (' || a.staff_key || ')', '')
      from identity.acting() as a
    ),
    frozen_reason = 'erased'
  where t.user_id = v_user_id;
  perform identity.erase_account(v_user_id, v_emails);
  delete from admin.user_notes as n
  where n.user_id = v_user_id;
  -- Open ones count as answered: nobody is left to be answered.
  update trading.disputes as d set
    text = 'erased',
    answer = 'erased',
    answered_at = coalesce(d.answered_at, core.now())
  where d.user_id = v_user_id;
  update admin.proposed_calls as p set
    arguments = admin.plain_part(p.command, p.arguments),
    reason = 'erased',
    rejection = case when p.rejection is not null then 'erased' end,
    -- It still says whom a call was about that names no user.
    basis = case
      when p.arguments ->> 'user_id' is not null then '{}'
      else jsonb_build_object('users', jsonb_build_object(erase_user.user_id, null))
    end
  where coalesce(p.arguments ->> 'user_id', admin.only_user_of(p.basis))
    = erase_user.user_id::text;
  update admin.proposed_calls as p
  set basis = '{}'
  where p.basis -> 'users' ? erase_user.user_id::text
    and admin.only_user_of(p.basis) is null;
  update admin.personal_arguments as p set
    user_id = erase_user.user_id,
    salt = null,
    arguments = null,
    erased_by = v_audit_id
  where p.erased_by is null
    and (
      p.user_id = erase_user.user_id
      or p.user_id is null
        and lower((p.arguments ->> 'email') collate "C") = any (v_emails)
      -- The audit did not always say whom a proposal was about that names no user.
      or p.user_id is null
        and exists (
          select
          from admin.audit_log as a
          join admin.proposed_calls as c on c.public_id::text = a.arguments ->> 'proposal_id'
          where a.id = p.audit_id
            and admin.only_user_of(c.basis) = erase_user.user_id::text
        )
    );
end
$$;

comment on function admin.erase_user(uuid, text) is
  'Takes away for good all that says who a user is: address, names, keys'' and passkeys'' names, '
  'network addresses, notes, mails, words of disputes and their answers, and what the audit log '
  'and proposals say of it. Orders, trades and cash stay, and the sealed history is as it was. All '
  'access ends, and the account stays frozen. A user who was erased is erased once. The reason is '
  'kept: it must not name the person. Errors: APPROVAL_REQUIRED, INVALID_REQUEST, NOT_FOUND, '
  'INVALID_STATE (there is cash, a receivable, an open order, or shares in a market that is not '
  'settled; or the address is of a member of staff), UNFIT_SESSION. Locks: the account, the user, '
  'the rows that are taken away.';
