create or replace function identity.notify_user(kind text, user_id bigint, details json)
returns void
language plpgsql volatile
as $$
declare
  c_most_a_day constant int := 20;
  v_at timestamptz := core.now();
  v_is_single constant boolean := notify_user.kind in (
    'new_sign_in', 'new_key', 'passkey_added', 'passkey_removed', 'dispute_answered'
  );
  v_is_always constant boolean := notify_user.kind in (
    'new_key', 'passkey_added', 'passkey_removed', 'dispute_answered', 'password_changed',
    'email_change_asked'
  );
begin
  -- One that a worker has taken is passed over, and not waited for.
  update identity.mails as m
  set details = notify_user.details
  where m.id = (
    select x.id
    from identity.mails as x
    join identity.users as u on u.id = x.user_id
    where not v_is_single
      and x.user_id = notify_user.user_id
      and x.kind = notify_user.kind
      and x.due_at is not null
      and x.attempts = 0
      and x.address = u.email
    limit 1
    for update of x skip locked
  );
  if found then
    return;
  end if;
  perform identity.queue_mail(notify_user.kind, u.id, u.email, notify_user.details)
  from identity.users as u
  where u.id = notify_user.user_id
    and identity.is_confirmed(u)
    and (v_is_always or (
      select count(*)
      from identity.mails as m
      where m.user_id = notify_user.user_id
        and m.kind = notify_user.kind
        and m.created_at > v_at - interval '24 hours'
    ) < c_most_a_day);
end
$$;

comment on function identity.notify_user(text, bigint, json) is
  'Writes a notice to a user into the outbox, unless the address is not confirmed yet. One of the '
  'same kind that waits gets these details instead, and there are at most 20 of a kind in 24 '
  'hours. Each sign-in, each new key, each passkey that is added or removed, and each answer to a '
  'dispute has a notice of its own: another one must not hide it. Of these only '
  'sign-ins are among the 20. New passwords and asked changes of the address are not either: '
  'their number is limited itself.';
