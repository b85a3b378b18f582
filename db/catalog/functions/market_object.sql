create or replace function catalog.market_object(
  market catalog.markets, category text, event_id uuid, state trading.market_state
)
returns json
language sql stable parallel safe
return json_build_object(
  'id', (market).public_id,
  'title', (market).title,
  'description', (market).description,
  'category', category,
  'status', (market).status,
  'eventId', event_id,
  'lastTradePrice', (state).last_trade_price,
  'yesVolume', (state).yes_volume_cents,
  'noVolume', (state).no_volume_cents,
  'closeTime', core.iso8601((market).close_time),
  'createdAt', core.iso8601((market).created_at),
  'resolvedOutcome', (market).resolved_outcome,
  'thumbnailId', (market).thumbnail_id,
  'thumbnailUrl', (market).thumbnail_url
);

comment on function catalog.market_object(
  catalog.markets, text, uuid, trading.market_state
) is
  'A market as lists of markets show it, with the slug of its category and the public id of its '
  'event.';
