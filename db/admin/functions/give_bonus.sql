create or replace function admin.give_bonus(name text, users jsonb)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_users constant int := 1000;
  c_uuid constant text := '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
  v_place bigint;
  v_public_id uuid;
  v_user_ids bigint[];
  v_bonus record;
  v_paid int := 0;
begin
  perform admin.check_role('give_bonus');
  if (
    case jsonb_typeof(give_bonus.users)
      when 'array' then jsonb_array_length(give_bonus.users)
      else 0
    end
  ) not between 1 and c_most_users then
    perform core.raise_error('INVALID_REQUEST', format(
      'The users must be an array of 1 to %s entries {user_id, amount_cents}', c_most_users
    ));
  end if;
  select b.place into v_place
  from jsonb_array_elements(give_bonus.users) with ordinality as b (entry, place)
  where coalesce(b.entry ->> 'user_id', '') !~* c_uuid
    or coalesce(b.entry ->> 'amount_cents', '') !~ '^-?[0-9]{1,18}$'
  order by b.place
  limit 1;
  if found then
    perform core.raise_error('INVALID_REQUEST', format(
      'Entry %s of the users must have a user_id and a whole number as amount_cents', v_place
    ));
  end if;
  perform ledger.check_movement('bonus', b.amount_cents, give_bonus.name)
  from jsonb_to_recordset(give_bonus.users) as b (amount_cents bigint);
  perform admin.check_approval('give_bonus', (
    select sum(b.amount_cents)
    from jsonb_to_recordset(give_bonus.users) as b (amount_cents bigint)
  ));
  select b.user_id into v_public_id
  from jsonb_to_recordset(give_bonus.users) as b (user_id uuid)
  group by b.user_id
  having count(*) > 1
  limit 1;
  if found then
    perform core.raise_error('INVALID_REQUEST', format('User %s is named twice', v_public_id));
  end if;

  select b.user_id into v_public_id
  from jsonb_to_recordset(give_bonus.users) as b (user_id uuid)
  where not exists (select from trading.traders as t where t.public_id = b.user_id)
  limit 1;
  if found then
    perform core.raise_error('NOT_FOUND', format('There is no user %s', v_public_id));
  end if;
  select array_agg(t.user_id) into v_user_ids
  from jsonb_to_recordset(give_bonus.users) as b (user_id uuid)
  join trading.traders as t on t.public_id = b.user_id;

  perform ledger.lock_outside_world();
  perform trading.lock_traders(v_user_ids);
  perform admin.count_cash('bonus', (
    select sum(b.amount_cents)
    from jsonb_to_recordset(give_bonus.users) as b (user_id uuid, amount_cents bigint)
    join trading.traders as t on t.public_id = b.user_id
    where not exists (
      select
      from ledger.cash_movements as c
      where c.user_id = t.user_id and c.kind = 'bonus' and c.reference = give_bonus.name
    )
  ));
  for v_bonus in
    select t.user_id, b.amount_cents
    from jsonb_to_recordset(give_bonus.users) as b (user_id uuid, amount_cents bigint)
    join trading.traders as t on t.public_id = b.user_id
    order by t.user_id
  loop
    if ledger.book_movement(v_bonus.user_id, 'bonus', v_bonus.amount_cents, give_bonus.name) then
      v_paid := v_paid + 1;
    end if;
  end loop;

  perform admin.audit('give_bonus', jsonb_build_object(
    'name', give_bonus.name,
    'users', (
      select jsonb_agg(to_jsonb(b))
      from jsonb_to_recordset(give_bonus.users) as b (user_id uuid, amount_cents bigint)
    ),
    'paid', v_paid
  ));
  return v_paid;
end
$$;

comment on function admin.give_bonus(text, jsonb) is
  'Adds a bonus to the cash of users, given as [{user_id, amount_cents}] of at most 1,000 users: '
  'once for each name and user, and for all of them or none. Returns how many were paid now; a '
  'user who has the bonus already is passed over. Frozen and self-excluded users are paid too, as '
  'with a deposit. Errors: APPROVAL_REQUIRED, INVALID_REQUEST, NOT_FOUND, ALREADY_EXISTS (a user '
  'has it with another amount), INVALID_STATE (over a cap). Locks: the outside world, then the '
  'users in ascending id.';
