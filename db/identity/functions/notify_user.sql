create or replace function identity.notify_user(
  kind text, user_id bigint, details json default '{}'
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select identity.queue_mail(notify_user.kind, u.id, u.email, notify_user.details)
  from identity.users as u
  where u.id = notify_user.user_id
    and identity.is_confirmed(u)
$$;

comment on function identity.notify_user(text, bigint, json) is
  'Writes a notice to a user into the outbox, unless the address is not confirmed yet.';
