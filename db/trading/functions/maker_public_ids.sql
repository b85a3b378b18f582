create or replace function trading.maker_public_ids(
  batch trading.matched_batch, order_public_ids uuid[]
)
returns uuid[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  k_read constant int := cardinality(batch.makers);
  k_public_ids constant uuid[] := array(select k.order_public_id from unnest(batch.makers) as k);
  v_rested constant int[] := (batch.result).rested;
begin
  return array(
    select case when f.maker <= k_read
      then k_public_ids[f.maker]
      else maker_public_ids.order_public_ids[v_rested[f.maker - k_read]]
    end
    from unnest((batch.result).fills) as f
  );
end
$$;

comment on function trading.maker_public_ids(trading.matched_batch, uuid[]) is
  'The public ids of the makers'' orders of the fills of a batch. order_public_ids are those of '
  'its requests'' orders, which later requests may have met.';
