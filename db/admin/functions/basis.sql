create or replace function admin.basis(command text, arguments jsonb)
returns jsonb
language plpgsql volatile
as $$
declare
  v_user_id bigint;
  v_market_id bigint;
  v_basis jsonb := '{}'::jsonb;
begin
  perform core.check_session();
  if basis.command in ('set_approval_rule', 'remove_approval_rule') then
    lock table admin.rules in exclusive mode;
    select jsonb_build_object('rule', to_jsonb(r)) into v_basis
    from (select basis.arguments ->> 'command' as command) as a
    left join admin.rules as r on r.command = a.command;
  else
    -- As the command itself will, before what it locks.
    lock table admin.rules in row share mode;
  end if;

  if basis.arguments ->> 'user_id' is not null then
    v_user_id := identity.user_id((basis.arguments ->> 'user_id')::uuid);
    perform identity.lock_account(v_user_id);
    if basis.command = 'end_self_exclusion' then
      perform identity.lock_user((basis.arguments ->> 'user_id')::uuid);
    end if;
    select v_basis || jsonb_build_object(
      'email', u.email,
      'frozen_at', t.frozen_at,
      'frozen_reason', t.frozen_reason,
      'excluded_until', t.excluded_until
    ) into v_basis
    from identity.users as u
    join trading.traders as t on t.user_id = u.id
    where u.id = v_user_id;
  end if;

  -- It is locked before the market, and by these commands too.
  if basis.command in ('void_market', 'void_trade') then
    perform ledger.lock_outside_world();
  end if;
  if basis.command = 'close_day' then
    v_basis := v_basis || jsonb_build_object('compared', (
      select to_jsonb(c)
      from admin.bank_comparisons as c
      where c.day = (basis.arguments ->> 'day')::date
      for share
    ));
  end if;

  if basis.arguments ->> 'market_id' is not null then
    v_market_id := catalog.market_id((basis.arguments ->> 'market_id')::uuid);
    perform trading.lock_for_payout(
      v_market_id,
      case basis.arguments ->> 'outcome'
        when 'yes' then 100
        when 'no' then 0
        when 'custom' then (basis.arguments ->> 'yes_payout_cents')::int
      end
    );
    select v_basis || jsonb_build_object(
      'title', m.title,
      'description', m.description,
      'rules', m.rules,
      'source_url', m.source_url,
      'event', (
        select jsonb_build_array(e.title, e.description)
        from catalog.events as e
        where e.id = m.event_id
      ),
      'resolutions', (
        select count(*) from trading.resolutions as r where r.market_id = m.id
      ),
      'positions', (
        select md5(string_agg(
          concat_ws(' ', h.user_id, h.yes_quantity, h.no_quantity), ',' order by h.user_id
        ))
        from trading.holdings as h
        where h.market_id = m.id
      )
    ) into v_basis
    from catalog.markets as m
    where m.id = v_market_id;
    if basis.command = 'correct_resolution' then
      v_basis := v_basis || jsonb_build_object('others', (
        select jsonb_agg(jsonb_build_array(o.title, o.yes_payout_cents) order by o.id)
        from trading.paying_markets(v_market_id) as o
      ));
    end if;
  end if;

  if basis.arguments ->> 'staff_id' is not null then
    v_basis := v_basis || jsonb_build_object(
      'roles', (identity.lock_staff((basis.arguments ->> 'staff_id')::uuid)).roles
    );
  end if;
  return v_basis;
end
$$;

comment on function admin.basis(text, jsonb) is
  'What the decision about a call rests on, by the ids in its arguments: of a user the address, '
  'the freeze and the exclusion; of a market the texts, how often it was resolved, and a digest '
  'of all positions, and for a correction the other markets of an exclusive event that pay; of a '
  'member of staff the roles; of an approval rule the one in force. Cash is not part of it, as '
  'trading changes it: the command itself checks it. Nothing of it changes before the transaction '
  'ends. Private to the schema. Errors: NOT_FOUND, UNFIT_SESSION. Locks: '
  'admin.rules in mode row share, or for rules exclusive; the account, for the end of an exclusion '
  'the user, for a void the outside world, for the closing of a day its comparison, '
  'those of trading.lock_for_payout, the member of staff.';
