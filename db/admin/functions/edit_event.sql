create or replace function admin.edit_event(
  event_id uuid,
  title text default null,
  description text default null,
  starts_at timestamptz default null,
  ends_at timestamptz default null,
  category text default null,
  exclusive boolean default null
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_event catalog.events;
  v_category_id bigint;
  v_category text;
  v_market_ids bigint[];
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('edit_event');
  if edit_event.category is not null then
    v_category_id := catalog.category_id(edit_event.category);
  end if;
  select e.* into v_event
  from catalog.events as e
  where e.public_id = edit_event.event_id
  for no key update;
  if not found then
    perform core.raise_error('NOT_FOUND', format('There is no event %s', edit_event.event_id));
  end if;
  select c.slug into strict v_category
  from catalog.categories as c
  where c.id = v_event.category_id;
  if v_category_id <> v_event.category_id then
    v_market_ids := array(
      select m.id from catalog.markets as m where m.event_id = v_event.id order by m.id
    );
    perform trading.lock_markets(v_market_ids);
    perform trading.check_category_change(v_market_ids);
    perform catalog.lock_categories(array[v_category_id, v_event.category_id]);
    update catalog.markets as m
    set category_id = v_category_id
    where m.id = any (v_market_ids);
  end if;
  if edit_event.exclusive <> v_event.exclusive then
    perform trading.lock_markets(array(
      select m.id from catalog.markets as m where m.event_id = v_event.id order by m.id
    ));
    perform trading.check_exclusive_change(v_event.id, added => 0);
  end if;
  update catalog.events as e set
    exclusive = coalesce(edit_event.exclusive, e.exclusive),
    category_id = coalesce(v_category_id, e.category_id),
    title = coalesce(edit_event.title, e.title),
    description = coalesce(edit_event.description, e.description),
    starts_at = coalesce(edit_event.starts_at, e.starts_at),
    ends_at = coalesce(edit_event.ends_at, e.ends_at)
  where e.id = v_event.id;
  perform admin.audit('edit_event', jsonb_build_object(
    'event_id', edit_event.event_id,
    'title', edit_event.title,
    'description', edit_event.description,
    'starts_at', edit_event.starts_at,
    'ends_at', edit_event.ends_at,
    'category', edit_event.category,
    'exclusive', edit_event.exclusive,
    'before', jsonb_build_object(
      'title', v_event.title,
      'description', v_event.description,
      'starts_at', v_event.starts_at,
      'ends_at', v_event.ends_at,
      'category', v_category,
      'exclusive', v_event.exclusive
    )
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.edit_event(uuid, text, text, timestamptz, timestamptz, text, boolean) is
  'Changes title, description, times and category of an event, and whether it is exclusive; null '
  'leaves a value as it is. Its markets are found by the new title, and go to the new category '
  'with it. That, and another exclusive, is possible until something has traded in one of them. '
  'The times say when a live event is live, from the next order on. The audit row has the values '
  'from before. Errors: INVALID_REQUEST, NOT_FOUND, INVALID_STATE (a category or exclusive that '
  'cannot change), UNFIT_SESSION. Locks: the row of the event; then with a new category its '
  'markets and the rows of both categories, with another exclusive its markets, with a new title '
  'the rows of its markets in catalog.markets, by ascending key, for which no trading waits.';
