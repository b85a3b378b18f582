create or replace function admin.set_market_source(
  market_id uuid, rules text, source_url text
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_id constant bigint := catalog.market_id(set_market_source.market_id);
  v_market catalog.markets;
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('set_market_source');
  perform trading.lock_market(v_market_id);
  select m.* into strict v_market
  from catalog.markets as m
  where m.id = v_market_id
  for no key update;
  if v_market.status = 'resolved' then
    perform core.raise_error('INVALID_STATE', 'A resolved market cannot be edited');
  end if;
  update catalog.markets as m set
    rules = set_market_source.rules,
    source_url = set_market_source.source_url
  where m.id = v_market_id;
  perform admin.audit('set_market_source', jsonb_build_object(
    'market_id', set_market_source.market_id,
    'rules', set_market_source.rules,
    'source_url', set_market_source.source_url,
    'before', jsonb_build_object('rules', v_market.rules, 'source_url', v_market.source_url)
  ));
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_market_source(uuid, text, text) is
  'Sets what decides the outcome of a market: its rules, of at most 4,000 characters, and the '
  'address of the source, which begins with http:// or https://. Null removes a value. Everybody '
  'can read both. The audit row has the values from before. Errors: INVALID_REQUEST, NOT_FOUND, '
  'INVALID_STATE (resolved). Locks: the market, its row in catalog.markets.';
