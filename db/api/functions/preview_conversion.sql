create or replace function api.preview_conversion(
  user_id uuid, event_id uuid, quantity int, market_ids uuid[] default null
)
returns core.result
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select trading.convert_shares(
    (
      select t.user_id
      from trading.traders as t
      where t.public_id = preview_conversion.user_id
    ),
    (select e.id from catalog.events as e where e.public_id = preview_conversion.event_id),
    preview_conversion.market_ids,
    preview_conversion.quantity,
    is_preview => true
  )
$$;

comment on function api.preview_conversion(uuid, uuid, int, uuid[]) is
  'The body of POST /events/:id/convert/preview: what api.convert_shares would answer, or reject '
  'with. Changes and locks nothing.';
