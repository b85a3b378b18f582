create or replace function trading.stop_makers(
  makers trading.makers, stopped_order_ids bigint[]
)
returns trading.makers
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  makers.end_reason := array(
    select case
      when makers.end_reason[i] is null
        and makers.order_id[i] <= stopped_order_ids[makers.trader_place[i]]
        then 'user_cancelled'
      else makers.end_reason[i]
    end
    from generate_subscripts(makers.order_id, 1) as i
    order by i
  );
  return makers;
end
$$;

comment on function trading.stop_makers(trading.makers, bigint[]) is
  'Marks the resting orders that a dead man''s switch stops: up to an order of each trader '
  '(trading.trader_arrays).';
