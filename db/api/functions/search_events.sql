create or replace function api.search_events(
  page int,
  page_size int,
  query text default null,
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
  c_most_markets constant int := 1000;
  c_most_counted constant int := 10000;
  v_before constant bigint := (search_events.page - 1)::bigint * search_events.page_size;
  v_query tsquery;
  v_found bigint[];
  v_total bigint;
  v_ids bigint[];
begin
  if search_events.status not in ('open', 'closed') then
    perform core.raise_error('INVALID_REQUEST', 'status: unknown');
  end if;
  if search_events.sort not in ('volume', 'newest', 'closing') then
    perform core.raise_error('INVALID_REQUEST', 'sort: unknown');
  end if;

  if search_events.query ~ '[^[:space:]]' then
    v_query := catalog.search_query(search_events.query);
    v_found := array(
      select l.event_id
      from (
        select distinct w.event_id
        from (
          select m.event_id
          from catalog.markets as m
          where m.words @@ v_query
            and m.event_id is not null
          limit c_most_markets
        ) as w
      ) as f
      join catalog.event_listings as l on l.event_id = f.event_id
      where l.list = search_events.status
    );
    v_total := cardinality(v_found);
    v_ids := array(
      select l.event_id
      from catalog.event_listings as l
      where l.event_id = any (v_found)
      order by
        case search_events.sort when 'volume' then l.volume_cents end desc,
        case search_events.sort when 'closing' then l.close_time end,
        l.event_id desc
      limit search_events.page_size
      offset v_before
    );
  else
    select count(*) into v_total
    from (
      select
      from catalog.event_listings as l
      where l.list = search_events.status
      limit c_most_counted
    ) as c;
    -- One of the three branches, in the order of its index.
    v_ids := array(
      select p.event_id
      from (
        (
          select l.event_id
          from catalog.event_listings as l
          where search_events.sort = 'volume'
            and l.list = search_events.status
          order by l.volume_cents desc, l.event_id desc
        )
        union all
        (
          select l.event_id
          from catalog.event_listings as l
          where search_events.sort = 'newest'
            and l.list = search_events.status
          order by l.event_id desc
        )
        union all
        (
          select l.event_id
          from catalog.event_listings as l
          where search_events.sort = 'closing'
            and l.list = search_events.status
          order by l.close_time, l.event_id desc
        )
      ) as p
      limit greatest(0, least(search_events.page_size, v_total - v_before))
      offset v_before
    );
  end if;

  return (
    select core.page_object(
      json_agg(catalog.event_object(e, c.slug) order by p.place),
      v_total,
      search_events.page,
      search_events.page_size
    )
    from unnest(v_ids) with ordinality as p (id, place)
    join catalog.events as e on e.id = p.id
    join catalog.categories as c on c.id = e.category_id
  );
end
$$;

comment on function api.search_events(int, int, text, text, text) is
  'The body of GET /events: events that have markets, by words of their titles and of the titles '
  'of their markets. status: open (one of its markets is) or closed (all are, or are resolved); '
  'sort: volume (of all its markets, in cents, as of the last minute), newest, or closing (the '
  'first open market, soonest first); page counts from 1. At most 10,000 are counted and listed; '
  'with words, the events of 1,000 markets. Cost: the events of the page, and an entry of an index '
  'for each of at most 10,000; with words a row for each market that has them. Errors: '
  'INVALID_REQUEST.';
