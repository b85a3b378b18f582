create or replace function api.get_mail_metrics()
returns table (waiting_mails bigint, oldest_mail_age_seconds double precision, failed_mails bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  c_most_counted constant int := 10000;
begin
  select count(*), coalesce(extract(epoch from core.now() - min(w.created_at)), 0)
  into waiting_mails, oldest_mail_age_seconds
  from (
    select m.created_at
    from identity.mails as m
    where m.due_at is not null
      -- One that waits for room in its mailbox is not late.
      and (m.attempts > 0 or m.due_at <= core.now())
    limit c_most_counted
  ) as w;
  select count(*) into failed_mails
  from (
    select
    from identity.mails as m
    where m.due_at is null and m.sent_at is null
    limit c_most_counted
  ) as f;
  return next;
end
$$;

comment on function api.get_mail_metrics() is
  'One row of figures for monitoring: mails that are due or to be tried again, how old the oldest '
  'of these is (0: none waits), and mails of the last 30 days that were given up. Counting '
  'stops at 10,000, and reads no other mails.';
