create or replace function trading.announce_market(market_public_id uuid, version bigint)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into trading.outbox (channel, payload)
  values ('market_changed', json_build_object(
    'marketId', announce_market.market_public_id, 'version', announce_market.version
  ))
$$;

comment on function trading.announce_market(uuid, bigint) is
  'Announces that a market''s book or trades are now at a version.';
