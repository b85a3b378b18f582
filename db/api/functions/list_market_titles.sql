create or replace function api.list_market_titles(market_ids uuid[])
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select json_build_object(
      'data', coalesce(
        json_agg(json_build_object('id', m.public_id, 'title', m.title) order by m.public_id),
        '[]'
      )
    )
    from catalog.markets as m
    where m.public_id = any (list_market_titles.market_ids)
  );
end
$$;

comment on function api.list_market_titles(uuid[]) is
  'The titles of these markets, for rows that have only a market''s id; unknown ones are left out.';
