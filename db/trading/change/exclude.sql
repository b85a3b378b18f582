create or replace function trading.exclude(user_id uuid, until timestamptz)
returns int
language plpgsql
as $$
declare
  v_user_id bigint;
  v_market_ids bigint[];
  v_excluded_until timestamptz;
  v_at timestamptz;
begin
  if exclude.until is null or exclude.until <= core.now() then
    perform core.raise_error('INVALID_REQUEST', 'The end of the exclusion must be in the future');
  end if;
  v_user_id := identity.user_id(exclude.user_id);
  v_market_ids := trading.lock_user_with_markets(exclude.user_id);
  v_at := core.now();
  select t.excluded_until into v_excluded_until
  from trading.traders as t
  where t.user_id = v_user_id;
  if v_excluded_until > exclude.until then
    perform core.raise_error('INVALID_REQUEST', format(
      'The user is already excluded until %s; an exclusion cannot be shortened', v_excluded_until
    ));
  end if;
  update trading.traders as t
  set excluded_until = exclude.until
  where t.user_id = v_user_id;

  return trading.stop_user_orders(v_user_id, v_market_ids, 'self_excluded', v_at);
end
$$;

comment on function trading.exclude(uuid, timestamptz) is
  'Excludes a user until a time and cancels their open orders, as trading.stop_user_orders does; '
  'returns how many. Errors: INVALID_REQUEST, NOT_FOUND. Locks: as '
  'trading.lock_user_with_markets.';
