create or replace function trading.write_batch(batch trading.batch)
returns trading.batch
language plpgsql
as $$
declare
  r constant trading.requests := batch.requests;
  o trading.results := batch.results;
  k_order_id bigint[] := (batch.makers).order_id;
  k_public_id uuid[] := (batch.makers).public_id;
  v_order_ids bigint[];
  v_public_ids uuid[];
  k int;
begin
  for i in 1 .. cardinality(r.user_id) loop
    if o.status[i] is not null then
      v_order_ids[i] := coalesce(r.order_id[i], nextval('trading.order_ids'));
      v_public_ids[i] := coalesce(r.public_id[i], core.uuid_v7());
      k := o.maker_place[i];
      if k is not null then
        k_order_id[k] := v_order_ids[i];
        k_public_id[k] := v_public_ids[i];
      end if;
    elsif o.code[i] <> 'CONFLICT_RETRY' and r.order_id[i] is not null then
      -- A release that is rejected cancels its order.
      v_order_ids[i] := r.order_id[i];
      v_public_ids[i] := r.public_id[i];
      o.status[i] := 'cancelled';
      o.quantity[i] := coalesce(r.quantity[i], 0);
      o.left_quantity[i] := o.quantity[i];
      o.cancel_reason[i] := trading.release_reason(
        o.code[i], r.order_type[i],
        case
          when o.code[i] <> 'DEAD_MAN_FIRED' then null
          when r.expires_at[i] <= batch.at then 'expired'
          else (select s.reason from trading.stop_of(r.user_id[i], r.order_id[i], batch.at) as s)
        end
      );
    end if;
  end loop;
  o.order_id := v_order_ids;
  o.public_id := v_public_ids;
  batch.results := o;
  batch.makers.order_id := k_order_id;
  batch.makers.public_id := k_public_id;

  if (batch.fills).request_place is not null or (batch.cancelled).request_place is not null then
    perform trading.write_makers(batch);
  end if;
  if (batch.fills).request_place is not null then
    batch := trading.write_trades(batch);
  end if;
  if v_order_ids is not null then
    perform trading.write_orders(batch);
  end if;
  if v_order_ids is not null or (batch.cancelled).request_place is not null then
    perform trading.write_market_state(batch);
    perform trading.write_events(batch);
  end if;
  return batch;
end
$$;

comment on function trading.write_batch(trading.batch) is
  'Writes what matching made of a call, each row once, and gives the new orders and trades their '
  'ids. A scheduled order whose release was rejected is cancelled. Nothing is written if nothing '
  'changed.';
