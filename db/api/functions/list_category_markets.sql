create or replace function api.list_category_markets(
  category text, status text, page int, page_size int
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if list_category_markets.status not in ('open', 'closed') then
    perform core.raise_error('INVALID_REQUEST', 'status: unknown');
  end if;
  return api.list_markets(
    list_category_markets.page,
    list_category_markets.page_size,
    category => list_category_markets.category,
    status => list_category_markets.status,
    sort => 'newest'
  );
end
$$;

comment on function api.list_category_markets(text, text, int, int) is
  'The body of GET /categories/:slug/markets, newest first, or null for an unknown category. '
  'status: open, or closed for closed and resolved ones; page counts from 1. Errors: '
  'INVALID_REQUEST.';
