create or replace function admin.create_market(
  title text,
  category text,
  description text default '',
  event_id uuid default null,
  close_time timestamptz default null,
  thumbnail_id uuid default null,
  thumbnail_url text default null,
  "open" boolean default true,
  open_time timestamptz default null,
  outcome_name text default null,
  "position" int default null
)
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_category_id bigint := catalog.category_id(create_market.category);
  v_event catalog.events;
  v_market catalog.markets;
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('create_market');
  if create_market.event_id is not null then
    select e.* into v_event
    from catalog.events as e
    where e.public_id = create_market.event_id
    for no key update;
    if not found then
      perform core.raise_error('NOT_FOUND', format('There is no event %s', create_market.event_id));
    end if;
    if v_event.category_id <> v_category_id then
      perform core.raise_error('INVALID_REQUEST', format(
        'The event %s is not in category %L', create_market.event_id, create_market.category
      ));
    end if;
    if v_event.exclusive then
      perform trading.check_exclusive_change(v_event.id, added => 1);
    end if;
  end if;
  perform catalog.check_close_time(create_market.close_time);
  perform catalog.check_open_time(create_market.open_time);

  insert into catalog.markets (
    category_id, event_id, title, description, close_time, thumbnail_id, thumbnail_url, status,
    open_time, outcome_name, "position"
  )
  values (
    v_category_id, v_event.id, create_market.title, create_market.description,
    create_market.close_time, create_market.thumbnail_id, create_market.thumbnail_url,
    case create_market."open" when true then 'open' when false then 'paused' end
      ::catalog.market_status,
    create_market.open_time, create_market.outcome_name,
    coalesce(create_market."position", case when v_event.id is not null then (
      select coalesce(max(m."position"), 0) + 1
      from catalog.markets as m
      where m.event_id = v_event.id
    ) end)
  )
  returning * into v_market;

  -- The default of depth is the long form of 0.3.0, whose functions know no other.
  insert into trading.market_state (market_id, depth)
  values (v_market.id, array_fill(null::bigint, array[198]));

  perform admin.audit('create_market', jsonb_build_object(
    'market_id', v_market.public_id,
    'title', create_market.title,
    'category', create_market.category,
    'description', create_market.description,
    'event_id', create_market.event_id,
    'close_time', create_market.close_time,
    'thumbnail_id', create_market.thumbnail_id,
    'thumbnail_url', create_market.thumbnail_url,
    'open', create_market."open",
    'open_time', create_market.open_time,
    'outcome_name', create_market.outcome_name,
    'position', v_market."position"
  ));
  return v_market.public_id;
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.create_market(
  text, text, text, uuid, timestamptz, uuid, text, boolean, timestamptz, text, int
) is
  'Makes a market in a category, of an event of that category if one is given, at a place in it '
  '(by default the last): an open one, or a paused one, which opens at its open time, or by '
  'admin.set_market_status. Returns its id. Errors: INVALID_REQUEST, NOT_FOUND, INVALID_STATE (an '
  'exclusive event of which a market has traded or is resolved). Locks: the rows of the event and '
  'the category.';
