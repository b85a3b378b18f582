create or replace function api.get_market_snapshot(market_id uuid)
returns table (version bigint, body text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  v_market_id constant bigint := (
    select m.id from catalog.markets as m where m.public_id = get_market_snapshot.market_id
  );
  v_at constant timestamptz := trading.time_of_book(v_market_id);
begin
  return query select s.version, s.body from trading.market_snapshot(v_market_id, v_at) as s;
end
$$;

comment on function api.get_market_snapshot(uuid) is
  'A frame of the market stream and the version of the market that it shows, as '
  'trading.market_snapshot() makes them. No row for an unknown market. Locks: those of '
  'trading.time_of_book().';
