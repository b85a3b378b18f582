create or replace function admin.copy_market(
  market_id uuid,
  title text,
  close_time timestamptz default null,
  "open" boolean default false,
  open_time timestamptz default null,
  with_fee boolean default true
)
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_original record;
  v_copy_id uuid;
  v_rate_bps int;
begin
  perform admin.check_role('copy_market');
  select m.id, m.description, m.thumbnail_id, m.thumbnail_url, m.rules, m.source_url,
    c.slug, e.public_id as event_id
  into strict v_original
  from catalog.markets as m
  join catalog.categories as c on c.id = m.category_id
  left join catalog.events as e on e.id = m.event_id
  where m.id = catalog.market_id(copy_market.market_id);

  v_copy_id := admin.create_market(
    title => copy_market.title,
    category => v_original.slug,
    description => v_original.description,
    event_id => v_original.event_id,
    close_time => copy_market.close_time,
    thumbnail_id => v_original.thumbnail_id,
    thumbnail_url => v_original.thumbnail_url,
    "open" => copy_market."open",
    open_time => copy_market.open_time
  );
  if v_original.rules is not null or v_original.source_url is not null then
    perform admin.set_market_source(v_copy_id, v_original.rules, v_original.source_url);
  end if;
  select f.taker_rate_bps into v_rate_bps
  from trading.fee_in_force(v_original.id, null, core.now()) as f
  where f.market_id = v_original.id
    and copy_market.with_fee;
  if found then
    perform admin.set_fee_schedule(v_rate_bps, market_id => v_copy_id);
  end if;
  perform admin.audit('copy_market', jsonb_build_object(
    'market_id', copy_market.market_id,
    'title', copy_market.title,
    'close_time', copy_market.close_time,
    'open', copy_market."open",
    'open_time', copy_market.open_time,
    'with_fee', copy_market.with_fee,
    'copy_id', v_copy_id
  ));
  return v_copy_id;
end
$$;

comment on function admin.copy_market(
  uuid, text, timestamptz, boolean, timestamptz, boolean
) is
  'Makes a market with the description, rules, source, category, event and picture of another one, '
  'and with its own fee if it has one in force; a paused one unless open is true. The name of its '
  'outcome and its place in the event are not copied. Returns its id. The fee is set by '
  'admin.set_fee_schedule, and so needs the role cash; with_fee => false leaves it out. '
  'Errors: INVALID_REQUEST, NOT_FOUND, ROLE_REQUIRED. Locks: the market that it makes, the rows of '
  'the event and the category.';
