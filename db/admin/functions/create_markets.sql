create or replace function admin.create_markets(markets jsonb, dry_run boolean default false)
returns table (place int, title text, market_id uuid)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant int := 500;
  c_tried constant text := 'EX999';
  c_known constant text[] := array[
    'title', 'category', 'description', 'event_id', 'close_time', 'thumbnail_id', 'thumbnail_url',
    'open', 'open_time', 'outcome_name', 'position'
  ];
  v_entry jsonb;
  v_unknown text;
  v_code text;
  v_message text;
begin
  perform admin.check_role('create_markets');
  if create_markets.dry_run is null then
    perform core.raise_error('INVALID_REQUEST', 'The argument dry_run must be true or false');
  end if;
  if (
    case jsonb_typeof(create_markets.markets)
      when 'array' then jsonb_array_length(create_markets.markets)
      else 0
    end
  ) not between 1 and c_most then
    perform core.raise_error(
      'INVALID_REQUEST', format('The markets must be an array of 1 to %s objects', c_most)
    );
  end if;

  place := 0;
  for v_entry in select e.entry from jsonb_array_elements(create_markets.markets) as e (entry) loop
    place := place + 1;
    begin
      if jsonb_typeof(v_entry) <> 'object' then
        perform core.raise_error('INVALID_REQUEST', 'it must be an object');
      end if;
      select k.name into v_unknown
      from jsonb_object_keys(v_entry) as k (name)
      where k.name <> all (c_known)
      limit 1;
      if found then
        perform core.raise_error('INVALID_REQUEST', format('it has the unknown key %s', v_unknown));
      end if;
      select m.title, admin.create_market(
        m.title, m.category, coalesce(m.description, ''), m.event_id, m.close_time,
        m.thumbnail_id, m.thumbnail_url, coalesce(m."open", true), m.open_time, m.outcome_name,
        m."position"
      )
      into strict create_markets.title, create_markets.market_id
      from jsonb_to_record(v_entry) as m (
        title text, category text, description text, event_id uuid, close_time timestamptz,
        thumbnail_id uuid, thumbnail_url text, "open" boolean, open_time timestamptz,
        outcome_name text, "position" int
      );
      if create_markets.dry_run then
        raise exception using errcode = c_tried;
      end if;
    exception
      when sqlstate 'EX999' then
        market_id := null; -- all that was done for the entry is undone
      when sqlstate 'EX001' or sqlstate 'EX019' or sqlstate 'EX017' then
        get stacked diagnostics v_code = pg_exception_detail, v_message = message_text;
        perform core.raise_error(v_code, format('Market %s: %s', place, v_message));
      when data_exception then
        perform core.raise_error('INVALID_REQUEST', format('Market %s: %s', place, sqlerrm));
    end;
    return next;
  end loop;
  perform admin.audit('create_markets', jsonb_build_object(
    'entries', place, 'dry_run', create_markets.dry_run
  ));
end
$$;

comment on function admin.create_markets(jsonb, boolean) is
  'Makes markets, given as an array of at most 500 objects with the arguments of '
  'admin.create_market: all of them or none. A dry run makes none, and says what is wrong with the '
  'first entry that could not be made. Returns the number, title and id of each; after a dry run '
  'no ids. Errors, with the number of the entry: INVALID_REQUEST, NOT_FOUND, INVALID_STATE; '
  'UNFIT_SESSION. Locks: the rows of the events and the categories.';
