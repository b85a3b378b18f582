create or replace function admin.edit_market(
  market_id uuid,
  title text default null,
  description text default null,
  close_time timestamptz default null,
  no_close_time boolean default false
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_id bigint;
  v_market catalog.markets;
  v_closes_at timestamptz;
  v_constraint text;
  v_column text;
begin
  if edit_market.no_close_time and edit_market.close_time is not null then
    perform core.raise_error(
      'INVALID_REQUEST', 'Give close_time or no_close_time => true, but not both'
    );
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

  update catalog.markets as m set
    title = coalesce(edit_market.title, m.title),
    description = coalesce(edit_market.description, m.description),
    close_time = v_closes_at
  where m.id = v_market_id;
  perform admin.audit('edit_market', jsonb_build_object(
    'market_id', edit_market.market_id,
    'title', edit_market.title,
    'description', edit_market.description,
    'close_time', edit_market.close_time,
    'no_close_time', edit_market.no_close_time,
    'before', jsonb_build_object(
      'title', v_market.title,
      'description', v_market.description,
      'close_time', v_market.close_time
    )
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.edit_market(uuid, text, text, timestamptz, boolean) is
  'Changes title, description and close time of a market that is not resolved; null leaves a value '
  'as it is, no_close_time removes the close time. Orders stay, and so does the version, which '
  'counts changes of the book and its trades. The audit row has the values from before. Errors: '
  'INVALID_REQUEST, NOT_FOUND, INVALID_STATE (resolved; or a new close time after the old one has '
  'passed). Locks: the market, then its row in catalog.markets.';
