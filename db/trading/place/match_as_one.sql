create or replace function trading.match_as_one(
  requests trading.requests, markets trading.markets_read, at timestamptz, atomic boolean
)
returns trading.batch
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch trading.batch;
  v_codes text[];
begin
  v_batch := trading.match_batch(
    match_as_one.requests, match_as_one.markets, match_as_one.at
  );
  v_codes := array_remove((v_batch.results).code, null);
  if array_position(v_codes, 'CONFLICT_RETRY') is null
    or match_as_one.atomic and 'CONFLICT_RETRY' <> any (v_codes)
  then
    return v_batch;
  end if;
  if trading.cancel_failing_makers(v_batch) then
    return null;
  end if;
  return trading.match_batch(
    match_as_one.requests, match_as_one.markets, match_as_one.at, is_final => true
  );
end
$$;

comment on function trading.match_as_one(
  trading.requests, trading.markets_read, timestamptz, boolean
) is
  'Matches a call of which all is written or nothing. Null: it meets too many failing makers, some '
  'were cancelled, nothing else may be written, and the call is to be placed again. If there were '
  'none to cancel, since only its own fills left them so, its requests end where they have come. '
  'atomic: a rejection of one request is that of the call, whatever is left to do. Locks as '
  'trading.match_batch does.';
