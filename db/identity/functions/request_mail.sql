create or replace function identity.request_mail(kind text, user_id bigint, address text)
returns void
language plpgsql volatile
as $$
declare
  c_most_waiting constant int := 100;
begin
  -- One that a worker has taken is passed over, and not waited for.
  update identity.mails as m
  set address = request_mail.address, created_at = core.now()
  where m.id = (
    select x.id
    from identity.mails as x
    where lower(x.address collate "C") = lower(request_mail.address collate "C")
      and x.kind = request_mail.kind
      and x.user_id is not distinct from request_mail.user_id
      and x.due_at is not null
      and x.attempts = 0
    limit 1
    for update skip locked
  );
  if found then
    return;
  end if;
  perform identity.queue_mail(request_mail.kind, request_mail.user_id, request_mail.address)
  where (
    select count(*)
    from (
      select
      from identity.mails as x
      where lower(x.address collate "C") = lower(request_mail.address collate "C")
        and x.kind = request_mail.kind
        and x.due_at is not null
      limit c_most_waiting
    ) as w
  ) < c_most_waiting;
end
$$;

comment on function identity.request_mail(text, bigint, text) is
  'Writes a mail that anybody may ask for into the outbox. One that waits to say the same stays in '
  'its place, as if asked for now. Of a kind, 100 wait for a mailbox; what is asked for beyond '
  'them is dropped. Locks: the mail that waits, if no worker has it.';
