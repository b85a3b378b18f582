create or replace function trading.raise_version(market_id bigint, market_public_id uuid)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_version bigint;
begin
  update trading.market_state as b
  set version = b.version + 1
  where b.market_id = raise_version.market_id
  returning b.version into v_version;
  perform trading.announce_market(raise_version.market_public_id, v_version);
end
$$;

comment on function trading.raise_version(bigint, uuid) is
  'Counts one change of a market''s book and announces it. The caller holds the market''s lock.';
