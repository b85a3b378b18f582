create or replace function trading.maker_fill_object(
  user_id uuid, market_id uuid, order_ids text, fill_count bigint
)
returns text
language sql stable parallel safe
return format(
  '{"userId":"%s","event":{"type":"maker_fill","marketId":"%s","orderIds":["%s"],"fillCount":%s}}',
  user_id, market_id, order_ids, fill_count
);

comment on function trading.maker_fill_object(uuid, uuid, text, bigint) is
  'The event of a maker whose orders were filled, as JSON text. order_ids: the public ids, with '
  '"," between them. See trading.order_object.';
