create or replace function api.list_category_markets(
  category text, status text, page int, page_size int
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_offset bigint := (list_category_markets.page - 1)::bigint * list_category_markets.page_size;
  v_category catalog.categories;
  v_ids bigint[];
begin
  if list_category_markets.status not in ('open', 'closed') then
    perform core.raise_error('INVALID_REQUEST', 'status: unknown');
  end if;
  select c.* into v_category
  from catalog.categories as c
  where c.slug = list_category_markets.category;
  if not found then
    return null;
  end if;

  if list_category_markets.status = 'open' then
    v_ids := array(
      select m.id
      from catalog.markets as m
      where m.category_id = v_category.id
        and m.status = 'open'
      order by m.id desc
      limit list_category_markets.page_size
      offset v_offset
    );
  else
    v_ids := array(
      select m.id
      from catalog.markets as m
      where m.category_id = v_category.id
        and m.status in ('closed', 'resolved')
      order by m.id desc
      limit list_category_markets.page_size
      offset v_offset
    );
  end if;

  return (
    select core.page_object(
      json_agg(catalog.market_object(m, v_category.slug, e.public_id, b) order by m.id desc),
      case list_category_markets.status
        when 'open' then v_category.open_market_count
        else v_category.closed_market_count
      end,
      list_category_markets.page,
      list_category_markets.page_size
    )
    from catalog.markets as m
    join trading.market_state as b on b.market_id = m.id
    left join catalog.events as e on e.id = m.event_id
    where m.id = any (v_ids)
  );
end
$$;

comment on function api.list_category_markets(text, text, int, int) is
  'The body of GET /categories/:slug/markets, newest first, or null for an unknown category. '
  'status: open, or closed for closed and resolved ones; page counts from 1. Errors: '
  'INVALID_REQUEST.';
