create or replace function jobs.finish_mail(mail_id bigint, error text default null)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  update identity.mails as m set
    due_at = case when finish_mail.error is not null then m.due_at end,
    sent_at = case when finish_mail.error is null then core.now() end,
    last_error = left(finish_mail.error, 1000)
  where m.id = finish_mail.mail_id
    and m.sent_at is null
$$;

comment on function jobs.finish_mail(bigint, text) is
  'Notes that a mail was sent, or, with an error, that it was not and stays due. One that was sent '
  'stays sent. Locks: its row.';
