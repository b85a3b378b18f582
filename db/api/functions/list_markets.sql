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
set enable_seqscan = off
set enable_sort = off
as $$
declare
  c_most_found constant int := 1000;
  v_before bigint := (list_markets.page - 1)::bigint * list_markets.page_size;
  v_category_id bigint := 0;
  v_query tsquery;
  v_found bigint[];
  v_total bigint;
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
    v_found := array(
      select m.id
      from catalog.markets as m
      where m.words @@ v_query
        and (v_category_id = 0 or m.category_id = v_category_id)
        and case list_markets.status
          when 'open' then m.status = 'open'
          when 'closed' then m.status in ('closed', 'resolved')
          else true
        end
      limit c_most_found
    );
    v_total := cardinality(v_found);
  else
    select sum(
      case when list_markets.status <> 'closed' then c.open_market_count else 0 end
      + case when list_markets.status <> 'open' then c.closed_market_count else 0 end
      + case when list_markets.status = 'all' then c.paused_market_count else 0 end
    )::bigint into v_total
    from catalog.categories as c
    where v_category_id in (0, c.id);
  end if;

  if v_before >= v_total then
    v_ids := '{}';
  elsif v_total < c_most_found and v_query is not null then
    v_ids := array(
      select l.market_id
      from unnest(v_found) as f (id)
      join catalog.market_listings as l
        on l.category_id = 0 and l.list = 'all' and l.market_id = f.id
      order by
        case list_markets.sort when 'volume' then l.volume_cents end desc,
        case list_markets.sort when 'closing' then l.close_time end,
        l.market_id desc
      limit list_markets.page_size
      offset v_before
    );
  else
    -- One of the three branches, in the order of its index. Of the pages before this one only the
    -- index is read. Where many markets have the words, those are soon met.
    v_ids := array(
      select p.market_id
      from (
        (
          select l.market_id
          from catalog.market_listings as l
          where list_markets.sort = 'volume'
            and l.category_id = v_category_id
            and l.list = list_markets.status
          order by l.volume_cents desc, l.market_id desc
        )
        union all
        (
          select l.market_id
          from catalog.market_listings as l
          where list_markets.sort = 'newest'
            and l.category_id = v_category_id
            and l.list = list_markets.status
          order by l.market_id desc
        )
        union all
        (
          select l.market_id
          from catalog.market_listings as l
          where list_markets.sort = 'closing'
            and l.category_id = v_category_id
            and l.list = list_markets.status
          order by l.close_time, l.market_id desc
        )
      ) as p
      where v_query is null
        or (select m.words @@ v_query from catalog.markets as m where m.id = p.market_id)
      limit least(list_markets.page_size, v_total - v_before)
      offset v_before
    );
  end if;

  return (
    select core.page_object(
      json_agg(catalog.market_object(m, c.slug, e.public_id, b) order by p.place),
      v_total,
      list_markets.page,
      list_markets.page_size
    )
    from unnest(v_ids) with ordinality as p (id, place)
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
  'volume (both sides, in cents, as of the last minute), newest, or closing (soonest first, '
  'without a close time last); page counts from 1. With words at most 1,000 are counted and '
  'listed. Cost: the markets of the page, and an entry of an index for each market before it; '
  'with words a row for each market that has them. No trade is read. Errors: INVALID_REQUEST.';
