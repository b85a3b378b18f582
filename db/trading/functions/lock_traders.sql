create or replace function trading.lock_traders(
  requests trading.order_request[], slice trading.book_slice
)
returns bigint[]
language plpgsql
set search_path = ''
as $$
begin
  return array(
    select a.user_id
    from ledger.accounts as a
    where a.user_id = any (array(
      select r.user_id from unnest(lock_traders.requests) as r
      union all
      select r.user_id from unnest(slice.orders) as r
    ))
    order by a.id
    for no key update
  );
end
$$;

comment on function trading.lock_traders(trading.order_request[], trading.book_slice) is
  'Locks everybody a batch might touch, its takers and the owners of the orders they can reach, '
  'until the transaction ends; returns their keys. The lock on a user is the row of their cash '
  'account; rows are locked in ascending account id.';
