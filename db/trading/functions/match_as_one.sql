create or replace function trading.match_as_one(
  markets trading.market_context[],
  requests trading.order_request[],
  at timestamptz,
  atomic boolean
)
returns trading.matched_batch
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch trading.matched_batch;
  v_codes text[];
begin
  v_batch := trading.match_batch(
    match_as_one.markets, match_as_one.requests, match_as_one.at
  );
  v_codes := array(
    select r.code from unnest((v_batch.result).results) as r where r.code is not null
  );
  if not 'CONFLICT_RETRY' = any (v_codes) -- mutant: unfinished_batch_in_part
    or match_as_one.atomic and 'CONFLICT_RETRY' <> any (v_codes) -- mutant: rejected_batch_clears
  then
    return v_batch;
  end if;
  if trading.cancel_dead_makers(v_batch) then -- mutant: atomic_clears_nothing
    return null;
  end if;
  return trading.match_batch(
    match_as_one.markets, match_as_one.requests, match_as_one.at, is_final => true -- mutant: never_final
  );
end
$$;

comment on function trading.match_as_one(
  trading.market_context[], trading.order_request[], timestamptz, boolean
) is
  'Matches a batch of which all is written or nothing. Null: it meets too many dead makers, some '
  'were cancelled, nothing else may be written, and the batch is to be placed again. If there were '
  'none to cancel, since only its own fills left them so, its requests end where they have come. '
  'atomic: a rejection of one request is that of the batch, whatever is left to do. Locks as '
  'trading.match_batch does.';
