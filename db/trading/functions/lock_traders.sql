create or replace function trading.lock_traders(
  requests trading.order_request[], slice trading.book_slice, at timestamptz
)
returns trading.trader_arrays
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_traders trading.trader_arrays;
begin
  perform core.check_session();
  -- Both rows are locked so that both are read as they are once the lock is had.
  with locked as materialized (
    select
      a.user_id,
      (select u.public_id from identity.users as u where u.id = a.user_id) as public_id,
      a.id as account_id,
      a.version::bigint,
      a.balance_cents,
      risk.blocked_by(r, lock_traders.at) as blocked_by,
      r.excluded_until,
      risk.has_limits(r) as limited
    from ledger.accounts as a
    join trading.traders as r on r.user_id = a.user_id
    where a.user_id = any (array(
      select q.user_id from unnest(lock_traders.requests) as q
      union all
      select o.user_id from unnest(slice.orders) as o
    ))
    order by a.id
    for no key update of a, r
  )
  select
    array_agg(t.user_id),
    array_agg(t.public_id),
    array_agg(t.account_id),
    array_agg(t.version),
    array_agg(t.balance_cents),
    array_agg(t.blocked_by),
    array_agg(coalesce(t.excluded_until > lock_traders.at, false)),
    array_agg(t.limited)
  into v_traders
  from (select l.* from locked as l order by l.user_id) as t;
  return v_traders;
end
$$;

comment on function trading.lock_traders(
  trading.order_request[], trading.book_slice, timestamptz
) is
  'Locks everybody a batch might touch, its takers and the owners of the orders they can reach, '
  'until the transaction ends, and reads their cash and gates. The lock on a user is the row of '
  'their cash account, and then that of their gates; users are locked in ascending account id.';
