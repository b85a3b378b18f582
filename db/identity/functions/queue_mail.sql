create or replace function identity.queue_mail(
  kind text, user_id bigint, address text, details json default '{}'
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into identity.mails (kind, user_id, address, details, created_at, due_at)
  values (
    queue_mail.kind, queue_mail.user_id, queue_mail.address, queue_mail.details, core.now(),
    core.now()
  )
$$;

comment on function identity.queue_mail(text, bigint, text, json) is
  'Writes a mail into the outbox; it goes out after the commit.';
