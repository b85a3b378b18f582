create or replace function admin.basis(command text, arguments jsonb)
returns jsonb
language plpgsql volatile
set search_path = pg_catalog, pg_temp
-- Times become texts, which are compared with those of another session.
set timezone = 'UTC'
as $$
declare
  v_public_id constant uuid := (basis.arguments ->> 'user_id')::uuid;
  v_user_ids bigint[];
  v_users jsonb;
  v_market_id bigint;
  v_staff_id uuid;
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

  v_user_ids := array(
    select identity.user_id(v_public_id)
    where v_public_id is not null
    union
    select u.id
    from jsonb_array_elements(
      case
        when basis.command = 'give_bonus' and jsonb_typeof(basis.arguments -> 'users') = 'array'
          then basis.arguments -> 'users'
        else '[]'
      end
    ) as b (entry)
    join identity.users as u on u.public_id = (b.entry ->> 'user_id')::uuid
    union
    select c.user_id
    from ledger.cash_movements as c
    where basis.command = 'reverse_deposit'
      and v_public_id is null
      and c.kind = 'deposit'
      and c.reference = basis.arguments ->> 'reference'
    union
    select k.user_id
    from identity.api_keys as k
    where basis.command = 'rotate_api_key'
      and k.public_id = (basis.arguments ->> 'key_id')::uuid
    order by 1
  );
  if v_user_ids <> '{}' then
    perform identity.lock_account(x.id) from unnest(v_user_ids) as x (id);
    if basis.command in ('end_self_exclusion', 'set_loss_limits') then
      perform identity.lock_user(v_public_id);
    end if;
    select jsonb_object_agg(u.public_id, jsonb_build_object(
      'email', u.email,
      'frozen_at', t.frozen_at,
      'frozen_reason', t.frozen_reason,
      'excluded_until', t.excluded_until
    )) into v_users
    from identity.users as u
    join trading.traders as t on t.user_id = u.id
    where u.id = any (v_user_ids);
    v_basis := v_basis || coalesce(
      v_users -> v_public_id::text, jsonb_build_object('users', v_users)
    );
    if basis.command = 'set_loss_limits' then
      v_basis := v_basis || jsonb_build_object('limits', (
        select jsonb_build_array(
          t.day_limit_cents, t.week_limit_cents, t.month_limit_cents,
          t.day_limit_changes_at, t.week_limit_changes_at, t.month_limit_changes_at
        )
        from trading.traders as t
        where t.user_id = any (v_user_ids)
      ));
    end if;
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
      'outcome_name', m.outcome_name,
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
        select jsonb_agg(
          jsonb_build_array(o.title, x.outcome_name, o.yes_payout_cents) order by o.id
        )
        from trading.paying_markets(v_market_id) as o
        join catalog.markets as x on x.id = o.id
      ));
    end if;
  end if;

  if basis.command = 'remove_staff_passkey' then
    select s.public_id into v_staff_id
    from identity.staff_passkeys as p
    join identity.staff as s on s.id = p.staff_id
    where p.public_id = (basis.arguments ->> 'passkey_id')::uuid;
  else
    v_staff_id := (basis.arguments ->> 'staff_id')::uuid;
  end if;
  if v_staff_id is not null then
    v_basis := v_basis || jsonb_build_object('roles', (identity.lock_staff(v_staff_id)).roles);
  end if;
  return v_basis;
end
$$;

comment on function admin.basis(text, jsonb) is
  'What the decision about a call rests on, by the ids in its arguments: of a user the address, '
  'the freeze and the exclusion, also of the users of a bonus, of a deposit that is reversed and '
  'of a key that is rotated; for new loss limits those in force and those that wait; '
  'of a market the texts, how often it was resolved, and a digest of all positions, and for a '
  'correction the other markets of an exclusive event that pay; of a member of staff the roles, '
  'also of the one whose passkey is removed; of an approval rule the one in force. Cash is not '
  'part of it, as trading changes it, and nothing of a trade, which never changes: the command '
  'itself checks it. Nothing of it changes before the transaction ends. Private to the schema. '
  'Errors: NOT_FOUND, UNFIT_SESSION. Locks: admin.rules in mode row share, or for rules '
  'exclusive; the accounts by ascending id, for the end of an exclusion and for loss limits the '
  'user, for a void the outside world, for the closing of a day its comparison, those of '
  'trading.lock_for_payout, the member of staff.';
