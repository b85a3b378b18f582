create or replace function jobs.remove_mails(most int default 1000)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
set enable_sort = off
as $$
declare
  v_at timestamptz := core.now();
  v_mails int;
  v_links int;
  v_challenges int;
begin
  -- Picked once, in an array: as a subquery it might be run again for each row, past its limit.
  delete from identity.mails as m
  where m.id = any (array(
    select x.id
    from identity.mails as x
    where x.created_at <= v_at - interval '720 hours'
    order by x.created_at
    limit remove_mails.most
    for update skip locked
  ));
  get diagnostics v_mails = row_count;
  delete from identity.links as l
  where l.token_hash = any (array(
    select x.token_hash
    from identity.links as x
    where x.expires_at <= v_at
    order by x.expires_at
    limit remove_mails.most
    for update skip locked
  ));
  get diagnostics v_links = row_count;
  delete from identity.passkey_challenges as c
  where c.challenge = any (array(
    select x.challenge
    from identity.passkey_challenges as x
    where x.expires_at <= v_at
    order by x.expires_at
    limit remove_mails.most
    for update skip locked
  ));
  get diagnostics v_challenges = row_count;
  return v_mails + v_links + v_challenges;
end
$$;

comment on function jobs.remove_mails(int) is
  'Removes mails after 30 days, and links and challenges of passkeys that have expired, at most so '
  'many of each; returns how many. Locks: their rows, none that it would wait for.';
