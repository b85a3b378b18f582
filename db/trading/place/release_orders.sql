create or replace function trading.release_orders(market_ids bigint[], most int)
returns int
language plpgsql
as $$
declare
  v_at constant timestamptz := core.now();
  v_requests trading.requests := trading.due_requests(
    release_orders.market_ids, release_orders.most, v_at
  );
begin
  if v_requests.user_id is null then
    return 0;
  end if;
  perform trading.write_batch(trading.match_batch(v_requests, v_at));
  return cardinality(v_requests.user_id);
end
$$;

comment on function trading.release_orders(bigint[], int) is
  'Releases what is due of the scheduled orders of some markets, at most so many, in the order of '
  'their release time and then of their acceptance: each is judged and matched as if it had just '
  'been placed, and a rejection cancels it. Returns how many, with those that are not finished and '
  'stay due. The caller holds the locks of the markets. Locks the users of the orders and the '
  'makers they can reach, by ascending user id.';
