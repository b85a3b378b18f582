create or replace function admin.create_event(
  title text,
  category text,
  description text default null,
  starts_at timestamptz default null,
  ends_at timestamptz default null,
  live boolean default false,
  live_delay_ms int default 3000,
  thumbnail_id uuid default null,
  thumbnail_url text default null,
  exclusive boolean default false
)
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_event_id uuid;
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('create_event');
  insert into catalog.events (
    category_id, title, description, starts_at, ends_at, live, live_delay_ms,
    thumbnail_id, thumbnail_url, exclusive
  )
  values (
    catalog.category_id(create_event.category), create_event.title, create_event.description,
    create_event.starts_at, create_event.ends_at, create_event.live,
    create_event.live_delay_ms, create_event.thumbnail_id, create_event.thumbnail_url,
    create_event.exclusive
  )
  returning public_id into v_event_id;

  perform admin.audit('create_event', jsonb_build_object(
    'event_id', v_event_id,
    'title', create_event.title,
    'category', create_event.category,
    'description', create_event.description,
    'starts_at', create_event.starts_at,
    'ends_at', create_event.ends_at,
    'live', create_event.live,
    'live_delay_ms', create_event.live_delay_ms,
    'thumbnail_id', create_event.thumbnail_id,
    'thumbnail_url', create_event.thumbnail_url,
    'exclusive', create_event.exclusive
  ));
  return v_event_id;
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.create_event(
  text, text, text, timestamptz, timestamptz, boolean, int, uuid, text, boolean
) is
  'Makes an event in a category, by slug. Exactly one market of an exclusive one resolves YES. '
  'Returns its id. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the row of the category.';
