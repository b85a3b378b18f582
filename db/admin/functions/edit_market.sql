create or replace function admin.edit_market(
  market_id uuid,
  title text default null,
  description text default null,
  close_time timestamptz default null,
  no_close_time boolean default false,
  category text default null,
  open_time timestamptz default null,
  no_open_time boolean default false,
  outcome_name text default null,
  "position" int default null
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_id bigint;
  v_market catalog.markets;
  v_category_id bigint;
  v_category text;
  v_closes_at timestamptz;
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('edit_market');
  if edit_market.no_close_time and edit_market.close_time is not null then
    perform core.raise_error(
      'INVALID_REQUEST', 'Give close_time or no_close_time => true, but not both'
    );
  elsif edit_market.no_open_time and edit_market.open_time is not null then
    perform core.raise_error(
      'INVALID_REQUEST', 'Give open_time or no_open_time => true, but not both'
    );
  end if;
  if edit_market.category is not null then
    v_category_id := catalog.category_id(edit_market.category);
  end if;

  v_market_id := catalog.market_id(edit_market.market_id);
  perform trading.lock_market(v_market_id);
  select m.* into strict v_market
  from catalog.markets as m
  where m.id = v_market_id
  for no key update;
  if v_market.status = 'resolved' then
    perform core.raise_error('INVALID_STATE', 'A resolved market cannot be edited');
  end if;

  v_closes_at := case
    when edit_market.no_close_time then null
    else coalesce(edit_market.close_time, v_market.close_time)
  end;
  -- Past its close time a market is closed, even if the job that does it is late.
  if v_closes_at is distinct from v_market.close_time
    and v_market.status <> 'closed'
    and v_market.close_time <= core.now()
  then
    perform core.raise_error('INVALID_STATE', format(
      'The market closed at %s; admin.set_market_status opens it again, with a new close time',
      v_market.close_time
    ));
  end if;
  perform catalog.check_close_time(edit_market.close_time);
  perform catalog.check_open_time(edit_market.open_time);
  select c.slug into strict v_category
  from catalog.categories as c
  where c.id = v_market.category_id;
  if v_category_id <> v_market.category_id then
    if v_market.event_id is not null then
      perform core.raise_error(
        'INVALID_STATE', 'The market has the category of its event; admin.edit_event changes both'
      );
    end if;
    perform trading.check_category_change(array[v_market_id]);
    perform catalog.lock_categories(array[v_category_id, v_market.category_id]);
  end if;

  update catalog.markets as m set
    title = coalesce(edit_market.title, m.title),
    description = coalesce(edit_market.description, m.description),
    close_time = v_closes_at,
    category_id = coalesce(v_category_id, m.category_id),
    open_time = case
      when edit_market.no_open_time then null
      else coalesce(edit_market.open_time, m.open_time)
    end,
    outcome_name = coalesce(edit_market.outcome_name, m.outcome_name),
    "position" = coalesce(edit_market."position", m."position")
  where m.id = v_market_id;
  perform admin.audit('edit_market', jsonb_build_object(
    'market_id', edit_market.market_id,
    'title', edit_market.title,
    'description', edit_market.description,
    'close_time', edit_market.close_time,
    'no_close_time', edit_market.no_close_time,
    'category', edit_market.category,
    'open_time', edit_market.open_time,
    'no_open_time', edit_market.no_open_time,
    'outcome_name', edit_market.outcome_name,
    'position', edit_market."position",
    'before', jsonb_build_object(
      'title', v_market.title,
      'description', v_market.description,
      'close_time', v_market.close_time,
      'category', v_category,
      'open_time', v_market.open_time,
      'outcome_name', v_market.outcome_name,
      'position', v_market."position"
    )
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.edit_market(
  uuid, text, text, timestamptz, boolean, text, timestamptz, boolean, text, int
) is
  'Changes title, description, close time, category, open time, outcome name and place of a market '
  'that is not resolved; null leaves a value as it is, no_close_time and no_open_time remove a '
  'time. The category can be changed until something has traded, and only without an event. Orders '
  'stay, and so does the version, which counts changes of the book and its trades. The audit row '
  'has the values from before. Errors: INVALID_REQUEST, NOT_FOUND, INVALID_STATE (resolved; a new '
  'close time after the old one has passed; a category that cannot change). Locks: the market, its '
  'row in catalog.markets, then for a new category the rows of both categories.';
