create or replace function trading.cancel_dead_makers(batch trading.matched_batch)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead constant trading.cancelled_maker[] := array(
    select (c.request, c.maker, c.reason, c.left_quantity, 0)::trading.cancelled_maker
    from unnest((batch.result).cancelled_makers) with ordinality as c (
      request, maker, reason, left_quantity, traded_with, place
    )
    where c.traded_with = 0 -- mutant: live_makers_cleared
      and c.maker <= cardinality(batch.makers)
    order by c.place
  );
  v_left int[] := (batch.maker_arrays).left_quantities;
begin
  for p in 1 .. cardinality(v_dead) loop
    v_left[(v_dead[p]).maker] := -p;
  end loop;
  if cardinality(v_dead) = 0 then
    return false;
  end if;

  batch.result := (
    false,
    array_fill(trading.order_rejected('CONFLICT_RETRY'), array[cardinality(batch.requests)]),
    null, v_dead, null, v_left
  )::trading.match_result;
  perform trading.write_batch(batch);
  return true;
end
$$;

comment on function trading.cancel_dead_makers(trading.matched_batch) is
  'Cancels the makers that a matched batch met and that were dead before it, and writes nothing '
  'else of it. Returns whether there were any. The caller holds the locks of trading.match_batch.';
