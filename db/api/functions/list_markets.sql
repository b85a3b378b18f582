create or replace function api.list_markets(
  page int,
  page_size int,
  query text default null,
  category text default null,
  status text default 'open',
  sort text default 'volume'
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_first bigint := (list_markets.page - 1)::bigint * list_markets.page_size + 1;
  v_category_id bigint;
  v_query tsquery;
  v_ids bigint[];
begin
  if list_markets.status not in ('open', 'closed', 'all') then
    perform core.raise_error('INVALID_REQUEST', 'status: unknown');
  end if;
  if list_markets.sort not in ('volume', 'newest', 'closing') then
    perform core.raise_error('INVALID_REQUEST', 'sort: unknown');
  end if;
  if list_markets.category is not null then
    select c.id into v_category_id
    from catalog.categories as c
    where c.slug = list_markets.category;
    if not found then
      return null;
    end if;
  end if;
  if list_markets.query ~ '[^[:space:]]' then
    v_query := catalog.search_query(list_markets.query);
  end if;

  v_ids := array(
    select m.id
    from (
      -- Either all markets, or by the index those with the words: one of the two is empty.
      select x.id, x.category_id, x.status, x.close_time
      from catalog.markets as x
      where v_query is null
      union all
      select x.id, x.category_id, x.status, x.close_time
      from catalog.markets as x
      where x.words @@ v_query
    ) as m
    where (v_category_id is null or m.category_id = v_category_id)
      and case list_markets.status
        when 'open' then m.status = 'open'
        when 'closed' then m.status in ('closed', 'resolved')
        else true
      end
    order by
      case when list_markets.sort = 'volume' then (
        select b.yes_volume_cents + b.no_volume_cents
        from trading.market_state as b
        where b.market_id = m.id
      ) end desc,
      case when list_markets.sort = 'closing' then m.close_time end,
      m.id desc
  );

  return (
    select core.page_object(
      json_agg(catalog.market_object(m, c.slug, e.public_id, b) order by p.place),
      cardinality(v_ids),
      list_markets.page,
      list_markets.page_size
    )
    from unnest(
      case when v_first <= cardinality(v_ids)
        then v_ids[v_first:v_first + list_markets.page_size - 1]
      end
    ) with ordinality as p (id, place)
    join catalog.markets as m on m.id = p.id
    join catalog.categories as c on c.id = m.category_id
    join trading.market_state as b on b.market_id = m.id
    left join catalog.events as e on e.id = m.event_id
  );
end
$$;

comment on function api.list_markets(int, int, text, text, text, text) is
  'The body of GET /markets, or null for an unknown category: markets whose title, with that of '
  'the event, has all words of query. status: open, closed (resolved ones too) or all; sort: '
  'volume (both sides, in cents), newest, or closing (soonest first, without a close time last); '
  'page counts from 1. Cost: a row for each market, or with words for each that has them, and for '
  'volume one more; no trade is read. Errors: INVALID_REQUEST.';
