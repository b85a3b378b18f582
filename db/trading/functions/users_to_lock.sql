create or replace function trading.users_to_lock(
  requests trading.order_request[], slice trading.book_slice
)
returns bigint[]
language plpgsql stable
set search_path = ''
as $$
begin
  return (
    select array_agg(distinct u.user_id)
    from (
      select r.user_id from unnest(users_to_lock.requests) as r
      union all
      select r.user_id from unnest(slice.orders) as r
    ) as u
    where u.user_id is not null
  );
end
$$;

comment on function trading.users_to_lock(trading.order_request[], trading.book_slice) is
  'Everybody a batch might touch, in ascending id: its takers and the owners of the orders they '
  'can reach.';
