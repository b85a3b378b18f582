create or replace function trading.notify_market(market_public_id uuid, version bigint)
returns void
language sql volatile
return pg_notify(
  'market_changed',
  json_build_object('marketId', market_public_id, 'version', version)::text
);

comment on function trading.notify_market(uuid, bigint) is
  'Tells listeners on market_changed that a market''s book or trades are now at a version.';
