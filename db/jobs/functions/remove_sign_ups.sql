create or replace function jobs.remove_sign_ups(most int default 100)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
  v_user_id bigint;
  v_count int := 0;
begin
  perform core.check_session();
  for v_user_id in
    delete from identity.email_claims as c
    where c.user_id = any (array(
      select x.user_id
      from identity.email_claims as x
      where x.created_at <= v_at - interval '30 days' -- mutant: sign_up_ends_early
        and x.handle is not null -- mutant: change_of_address_ends_the_account
      order by x.created_at
      limit remove_sign_ups.most
      for update skip locked
    ))
    returning c.user_id
  loop
    v_count := v_count + 1;
    perform identity.end_sessions(array(
      select s.id from identity.sessions as s where s.user_id = v_user_id
    ));
    delete from identity.passwords as p where p.user_id = v_user_id;
    delete from identity.links as l where l.user_id = v_user_id;
    delete from identity.mails as m where m.user_id = v_user_id;
    -- Held first, so that the next statement sees what the user did until now.
    perform
    from trading.traders as t
    where t.user_id = v_user_id
    for update;
    -- Who had money or orders is part of the ledger's history.
    begin
      delete from trading.traders as t
      where t.user_id = v_user_id
        and t.account_version = 0
        and not exists (select from trading.orders as o where o.user_id = v_user_id)
        and not exists (select from trading.archived_orders as o where o.user_id = v_user_id);
      if found then
        delete from identity.users as u where u.id = v_user_id;
      end if;
    exception when foreign_key_violation then
      null; -- an operator has used the account
    end;
  end loop;
  return v_count;
end
$$;

comment on function jobs.remove_sign_ups(int) is
  'Ends accounts whose e-mail address was not confirmed within 30 days, at most so many; returns '
  'how many. Their passwords and sessions are removed; those without money and orders altogether. '
  'Locks: the claims, none that it would wait for; the rows of sessions, passwords, links and '
  'mails; the users. Errors: UNFIT_SESSION.';
