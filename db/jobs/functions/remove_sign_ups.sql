create or replace function jobs.remove_sign_ups(most int default 100)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
  v_user_id bigint;
  v_claimed_at timestamptz;
  v_public_id uuid;
  v_has_orders boolean;
  v_market_ids bigint[];
  v_count int := 0;
begin
  perform core.check_session();
  for v_user_id, v_public_id, v_claimed_at in
    -- Accounts are locked before their claims.
    select u.id, u.public_id, x.created_at
    from identity.email_claims as x
    join identity.users as u on u.id = x.user_id
    where x.created_at <= v_at - interval '720 hours'
      and x.handle is not null
    order by x.created_at
    limit remove_sign_ups.most
    for no key update of u skip locked
  loop
    v_has_orders := exists (select from trading.active_orders as b where b.user_id = v_user_id);
    -- It is waited for, and up to 1,000 orders end: so an account with orders is alone in its call.
    exit when v_has_orders and v_count > 0;
    delete from identity.email_claims as c
    where c.user_id = v_user_id
      and c.created_at = v_claimed_at;
    -- Confirmed a moment ago.
    continue when not found;
    if v_has_orders then
      v_market_ids := trading.lock_user_with_markets(v_public_id);
      perform trading.stop_user_orders(v_user_id, v_market_ids, 'user_cancelled', core.now());
    end if;
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
        delete from trading.dead_man_switches as s where s.user_id = v_user_id;
        delete from trading.order_stops as s where s.user_id = v_user_id;
        delete from identity.users as u where u.id = v_user_id;
      end if;
    exception when foreign_key_violation then
      null; -- an operator has used the account
    end;
    exit when v_has_orders;
  end loop;
  return v_count;
end
$$;

comment on function jobs.remove_sign_ups(int) is
  'Ends accounts whose e-mail address was not confirmed within 30 days, at most so many; returns '
  'how many: one, if it has open orders, which end (user_cancelled). Their passwords and '
  'sessions are removed; those without money and orders altogether. The money of others '
  'stays. Locks: the accounts, none that it would wait for; the claims; as '
  'trading.lock_user_with_markets; the rows of sessions, passwords, links and mails. Errors: '
  'UNFIT_SESSION.';
