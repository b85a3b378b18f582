create or replace function risk.exclude(user_id uuid, until timestamptz)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint;
  v_market_id bigint;
  v_locked bigint[];
  v_excluded_until timestamptz;
  v_at timestamptz;
  v_cancelled int := 0;
begin
  if exclude.until is null or exclude.until <= core.now() then
    perform core.raise_error('INVALID_REQUEST', 'the end must be in the future');
  end if;
  select u.id into v_user_id
  from identity.users as u
  where u.public_id = exclude.user_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no user %s', exclude.user_id));
  end if;

  -- Markets are locked before users, but which markets it must be is only certain once the user
  -- is locked: look, lock both, look again, and start over if an order came in between.
  <<attempt>>
  loop
    begin
      v_locked := '{}';
      for v_market_id in
        select distinct b.market_id
        from trading.open_orders as b
        where b.user_id = v_user_id
        order by b.market_id
      loop
        perform trading.lock_market(v_market_id);
        v_locked := v_locked || v_market_id;
      end loop;
      perform identity.lock_user(exclude.user_id);
      if exists (
        select from trading.open_orders as b
        where b.user_id = v_user_id and b.market_id <> all (v_locked)
      ) then
        raise exception using errcode = 'lock_not_available';
      end if;
      exit attempt;
    exception when lock_not_available then
      null; -- the locks of this attempt are gone with it
    end;
  end loop;

  v_at := core.now();
  select t.excluded_until into v_excluded_until
  from risk.traders as t
  where t.user_id = v_user_id;
  if v_excluded_until > exclude.until then
    perform core.raise_error('INVALID_REQUEST', format(
      'excluded until %s already: an exclusion cannot be shortened', v_excluded_until
    ));
  end if;
  update risk.traders as t
  set excluded_until = exclude.until
  where t.user_id = v_user_id;

  foreach v_market_id in array v_locked loop
    v_cancelled := v_cancelled + trading.clear_orders(
      v_market_id,
      array(
        select b.order_id
        from trading.open_orders as b
        where b.user_id = v_user_id and b.market_id = v_market_id
      ),
      'self_excluded',
      v_at
    );
  end loop;
  return v_cancelled;
end
$$;

comment on function risk.exclude(uuid, timestamptz) is
  'Excludes a user until a time and cancels their open orders; returns how many. Errors: '
  'INVALID_REQUEST, NOT_FOUND. Locks: the markets of those orders in ascending id, then the user.';
