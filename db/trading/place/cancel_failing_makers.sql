create or replace function trading.cancel_failing_makers(batch trading.batch)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c constant trading.cancelled_makers := batch.cancelled;
  c_kept constant int[] := array(
    select p
    from generate_subscripts(c.request_place, 1) as p
    where c.starved_by[p] = 0
      and c.maker_place[p] <= cardinality((batch.makers).order_id)
    order by p
  );
  v_kept trading.cancelled_makers;
  v_left int[] := (batch.makers).left_quantity;
  v_changes int[] := array_fill(0, array[cardinality((batch.markets).id)]);
  g int;
begin
  if cardinality(c_kept) = 0 then
    return false;
  end if;
  for n in 1 .. cardinality(c_kept) loop
    v_kept.request_place[n] := c.request_place[c_kept[n]];
    v_kept.maker_place[n] := c.maker_place[c_kept[n]];
    v_kept.reason[n] := c.reason[c_kept[n]];
    v_kept.left_quantity[n] := c.left_quantity[c_kept[n]];
    v_left[c.maker_place[c_kept[n]]] := -n;
    if n = 1 or v_kept.request_place[n] <> v_kept.request_place[n - 1] then
      g := (batch.requests).market_place[v_kept.request_place[n]];
      v_changes[g] := v_changes[g] + 1;
    end if;
  end loop;
  batch.cancelled := v_kept;
  batch.makers_left := v_left;
  batch.rested := null;
  batch.fills := null;
  batch.results := null;
  batch.results.code := array_fill(
    'CONFLICT_RETRY'::text, array[cardinality((batch.requests).user_id)]
  );
  batch.changes := v_changes;
  perform trading.write_batch(batch);
  return true;
end
$$;

comment on function trading.cancel_failing_makers(trading.batch) is
  'Cancels the makers that a matched call met and that failed before it, and writes nothing '
  'else of it. Returns whether there were any. The caller holds the locks of '
  'trading.match_batch.';
