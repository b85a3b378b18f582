create or replace function catalog.verify_calls()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with
  -- The calls about one category, event or market have its lock before they are noted.
  calls as materialized (
    select
      a.id, a.at, a.action, a.arguments,
      a.arguments ->> 'event_id' as event_id,
      a.arguments ->> 'market_id' as market_id,
      core.time_of(nullif(a.arguments ->> 'open_time', 'infinity')) as open_time,
      core.time_of(nullif(a.arguments ->> 'close_time', 'infinity')) as close_time
    from admin.audit_log as a
    where a.action in (
      'create_category', 'create_event', 'edit_event', 'set_event_live', 'create_market',
      'edit_market', 'set_market_status', 'set_market_source'
    )
  ),
  -- Null leaves an argument as it was.
  arguments as (
    select c.*, x.name, nullif(x.value, 'null') as value
    from calls as c
    left join lateral jsonb_each(
      case jsonb_typeof(c.arguments) when 'object' then c.arguments end
    ) as x (name, value) on true
  ),
  made_events as (
    select
      c.event_id, c.at,
      jsonb_build_array(
        c.last ->> 'title', c.last ->> 'description', c.last ->> 'category', c.last ->> 'live',
        c.last ->> 'live_delay_ms',
        extract(epoch from core.time_of(c.last ->> 'starts_at'))::text,
        extract(epoch from core.time_of(c.last ->> 'ends_at'))::text,
        c.last ->> 'thumbnail_id', c.last ->> 'thumbnail_url', c.last ->> 'exclusive'
      )::text as terms
    from (
      select
        a.event_id, min(a.at) as at,
        jsonb_object_agg(a.name, a.value order by a.id) filter (where a.value is not null) as last
      from arguments as a
      where a.action in ('create_event', 'edit_event', 'set_event_live')
      group by a.event_id
    ) as c
  ),
  events as (
    select
      e.public_id::text as event_id, e.created_at as at,
      jsonb_build_array(
        e.title, e.description, g.slug, e.live::text, e.live_delay_ms::text,
        extract(epoch from e.starts_at)::text, extract(epoch from e.ends_at)::text,
        e.thumbnail_id, e.thumbnail_url, e.exclusive::text
      )::text as terms
    from catalog.events as e
    join catalog.categories as g on g.id = e.category_id
  ),
  made_markets as (
    select
      c.market_id, c.at,
      jsonb_build_array(
        c.last ->> 'title', c.last ->> 'description',
        -- That a market has the category of its event is another invariant.
        case when c.last ->> 'event_id' is null then c.last ->> 'category' end,
        c.last ->> 'thumbnail_id', c.last ->> 'thumbnail_url', c.last ->> 'outcome_name',
        c.last ->> 'position', coalesce(c.source, '[null, null]')
      )::text as terms
    from (
      select
        a.market_id, min(a.at) as at,
        jsonb_object_agg(a.name, a.value order by a.id) filter (where a.value is not null) as last,
        (
          array_agg(
            jsonb_build_array(a.arguments -> 'rules', a.arguments -> 'source_url')
            order by a.id desc
          ) filter (where a.action = 'set_market_source')
        )[1] as source
      from arguments as a
      where a.action in ('create_market', 'edit_market', 'set_market_source')
      group by a.market_id
    ) as c
  ),
  markets as (
    select
      m.id, m.public_id::text as market_id, m.created_at as at, m.status, m.close_time,
      m.open_time,
      jsonb_build_array(
        m.title, m.description, case when m.event_id is null then g.slug end,
        m.thumbnail_id, m.thumbnail_url, m.outcome_name, m."position"::text,
        jsonb_build_array(m.rules, m.source_url)
      )::text as terms
    from catalog.markets as m
    join catalog.categories as g on g.id = m.category_id
  ),
  closings as (
    select
      c.market_id,
      -- The last call that set the close time, and whether a later one may have taken it away: so
      -- does opening a closed market.
      (array_agg(c.close_time order by c.id desc) filter (where x.sets_close_time))[1]
        as close_time,
      max(c.id) filter (where x.may_take_away) > max(c.id) filter (where x.sets_close_time)
        as may_be_none,
      (array_agg(c.open_time order by c.id desc) filter (where x.sets_open_time))[1] as open_time,
      max(c.id) filter (where c.action = 'set_market_status')
        > max(c.id) filter (where x.sets_open_time) as may_not_open,
      bool_or(c.open_time is not null) as had_open_time,
      bool_or(
        c.close_time is not null
        or c.arguments -> 'before' ->> 'close_time' is not null
      ) as had_close_time,
      (array_agg(c.close_time order by c.id desc) filter (where c.action = 'set_market_status'))[1]
        as closing_time,
      coalesce((
        array_agg(c.arguments ->> 'status' order by c.id desc)
        filter (where c.action = 'set_market_status')
      )[1], case
        when bool_or(c.action = 'create_market' and c.arguments ->> 'open' = 'false')
        then 'paused' else 'open' end) as status
    from calls as c
    cross join lateral (
      select
        c.action = 'create_market'
          or c.close_time is not null
          or c.arguments ->> 'no_close_time' = 'true' as sets_close_time,
        c.action = 'set_market_status'
          and c.arguments ->> 'status' = 'open'
          and c.close_time is null as may_take_away,
        c.action = 'create_market'
          or c.open_time is not null
          or c.arguments ->> 'no_open_time' = 'true' as sets_open_time
    ) as x
    where c.action in ('create_market', 'edit_market', 'set_market_status')
    group by c.market_id
  )
  select 'category is what was called for', 'category ' || coalesce(c.slug, k.slug),
    coalesce(concat_ws(' ', k.name, k."position"), 'none'),
    coalesce(concat_ws(' ', c.name, c."position"), 'none')
  from catalog.categories as c
  full join (
    select x.arguments ->> 'slug' as slug, x.arguments ->> 'name' as name,
      x.arguments ->> 'position' as "position"
    from calls as x
    where x.action = 'create_category'
  ) as k on k.slug = c.slug
  where c.name is distinct from k.name
    or c."position"::text <> k."position"

  union all
  select 'event is what was called for', 'event ' || coalesce(e.event_id, k.event_id),
    coalesce(k.terms || ', ' || k.at, 'none'), coalesce(e.terms || ', ' || e.at, 'none')
  from events as e
  full join made_events as k on k.event_id = e.event_id
  where e.terms is distinct from k.terms
    or not core.is_within_an_hour(e.at, k.at)

  union all
  select 'market is what was called for', 'market ' || coalesce(m.market_id, k.market_id),
    coalesce(k.terms || ', ' || k.at, 'none'), coalesce(m.terms || ', ' || m.at, 'none')
  from markets as m
  full join made_markets as k on k.market_id = m.market_id
  where m.terms is distinct from k.terms
    or not core.is_within_an_hour(m.at, k.at)

  union all
  select 'market closes when it was called for', 'market ' || m.id,
    coalesce(k.close_time::text, 'none'), coalesce(m.close_time::text, 'none')
  from markets as m
  join closings as k on k.market_id = m.market_id
  where m.close_time is distinct from k.close_time
    and not (m.close_time is null and k.may_be_none is true)

  -- Opening and every other change of the status take the open time away.
  union all
  select 'market opens when it was called for', 'market ' || m.id,
    coalesce(k.open_time::text, 'none'), coalesce(m.open_time::text, 'none')
  from markets as m
  join closings as k on k.market_id = m.market_id
  where m.open_time is distinct from k.open_time
    and not (m.open_time is null and (m.status <> 'paused' or k.may_not_open is true))

  -- A market closes and opens by itself at its times, and is resolved from any status.
  union all
  select 'market has the status that was called for', 'market ' || m.id, k.status, m.status::text
  from markets as m
  join closings as k on k.market_id = m.market_id
  where m.status::text <> k.status
    and m.status <> 'resolved'
    and not (m.status = 'closed' and k.had_close_time)
    -- One that its event has decided is closed in steps from the time of the call on.
    and (k.status = 'closed' and m.close_time = k.closing_time) is not true
    and not (m.status = 'open' and k.had_open_time)
$$;

comment on function catalog.verify_calls() is
  'The part of ledger.verify() about operators'' calls for categories, events and markets: each is '
  'as the calls in admin.audit_log have made and changed it. One row for each broken invariant.';
