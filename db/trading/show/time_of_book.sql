-- Most reads find nothing past its expiry, and take no lock. Few orders are cancelled: one is
-- enough, and the reader waits for it. The wait for the lock is short: it keeps a connection from
-- other reads.
create or replace function trading.time_of_book(market_id bigint)
returns timestamptz
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
--!include planner/indexes.sql
set enable_sort = off
as $$
declare
  c_most constant int := 20;
  v_at timestamptz := core.now();
begin
  if not exists (select from trading.expired_orders(time_of_book.market_id, v_at, 1)) then
    return v_at;
  end if;
  begin
    perform trading.lock_market(time_of_book.market_id);
  exception when lock_not_available then
    return v_at;
  end;
  v_at := core.now();
  perform trading.expire_market_orders(time_of_book.market_id, c_most);
  return v_at;
end
$$;

comment on function trading.time_of_book(bigint) is
  'The time as of which a read shows the book of a market, so that one version is one book. Reads '
  'leave out what is past its expiry. If such an order still rests, it is in the book that the '
  'version has named until now. Then this first cancels up to 20 of them, which raises the '
  'version; no read of the new version shows the others, which the worker cancels. Not done while '
  'another transaction holds the lock of the market for 50 ms, nor for what the closing of the '
  'market has to cancel. Locks: the market, if there is something to cancel.';
