create or replace function ledger.seal(most int default 10000)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  c_many constant int := 300000;
  c_longest_wait constant interval := '1 minute';
  v_at constant timestamptz := core.now();
  v_last ledger.blocks;
  v_block ledger.blocks;
  v_ranges ledger.block_ranges[];
  v_sequences text[];
  v_after_ids bigint[];
  v_last_ids bigint[];
  v_through_ids bigint[];
  v_place int;
  v_looks boolean;
begin
  perform core.check_session();
  if not pg_try_advisory_xact_lock((29037::bigint << 44) - 3) then
    return 0;
  end if;
  select b.* into v_last
  from ledger.blocks as b
  order by b.number desc
  limit 1;

  -- From here on each statement sees every row up to these ids.
  select
    array_agg(i.sequence_name), array_agg(d.through_id), array_agg(i.last_id)
  into v_sequences, v_after_ids, v_last_ids
  from ledger.settled_ids() as i
  join ledger.sealed_ids() as d on d.sequence_name = i.sequence_name;
  v_through_ids := array(
    select coalesce(
      (
        select min(
          ledger.nth_unsealed_id(
            s.table_name::regclass, s.id_column, i.after_id, i.last_id, seal.most
          )
        )
        from ledger.sealed_tables as s
        where s.sequence_name = i.sequence_name
      ),
      i.last_id
    )
    from unnest(v_sequences, v_after_ids, v_last_ids)
      with ordinality as i (sequence_name, after_id, last_id, place)
    order by i.place
  );

  v_block.number := coalesce(v_last.number, 0) + 1;
  v_block.open_order_ids := '{}';
  v_block.ended_order_ids := '{}';
  -- Orders may end meanwhile. Those that are open here are left out below, whatever they are then.
  v_place := array_position(v_sequences, 'trading.order_ids');
  if v_place is not null then
    v_block.open_order_ids := array(
      select o.order_id
      from trading.active_orders as o
      where o.order_id > coalesce(v_after_ids[v_place], 0)
        and o.order_id <= v_through_ids[v_place]
      order by o.order_id
    );
    -- To look for them costs a row for each order that was open.
    v_looks := (
      v_last.sealed_through not between v_at - c_longest_wait and v_at
      or cardinality(v_last.ended_order_ids) >= seal.most
      or (
        select c.reltuples < c_many
        from pg_catalog.pg_class as c
        where c.oid = 'ledger.awaited_orders'::regclass
      )
    ) is not false;
    if v_looks then
      v_block.ended_order_ids := ledger.ended_orders(seal.most);
    end if;
  end if;

  v_ranges := array(
    select row(
      s.table_name, v_block.number, i.after_id, i.through_id, h.row_count, h.hash
    )::ledger.block_ranges
    from unnest(v_sequences, v_after_ids, v_through_ids)
      as i (sequence_name, after_id, through_id)
    join ledger.sealed_tables as s on s.sequence_name = i.sequence_name
    cross join lateral ledger.hash_ranges(
      s.table_name::regclass,
      array[v_block],
      array[row(
        s.table_name, v_block.number, i.after_id, i.through_id, null, null
      )::ledger.block_ranges]
    ) as h
    where h.row_count > 0
  );
  if cardinality(v_ranges) = 0 then
    return 0;
  end if;
  if not exists (
    select
    from unnest(v_ranges) as r
    join ledger.sealed_tables as s on s.table_name = r.table_name
    where s.sequence_name = 'trading.order_ids'
  ) then
    v_block.open_order_ids := '{}';
  end if;

  v_block.created_at := core.now();
  v_block.sealed_through := case
    when v_looks and cardinality(v_block.ended_order_ids) < seal.most
      and v_through_ids = v_last_ids
      and cardinality(v_sequences) = (
        select count(distinct s.sequence_name) from ledger.sealed_tables as s
      )
      then v_at
    else v_last.sealed_through
  end;
  v_block.row_count := (select sum(r.row_count) from unnest(v_ranges) as r);
  v_block.previous_hash := v_last.hash;
  v_block.hash := ledger.hash_block(v_block, v_ranges);
  insert into ledger.blocks select v_block.*;
  insert into ledger.block_ranges select r.* from unnest(v_ranges) as r;
  insert into ledger.awaited_orders (order_id)
  select o.id from unnest(v_block.open_order_ids) as o (id);
  delete from ledger.awaited_orders as w where w.order_id = any (v_block.ended_order_ids);
  return v_block.row_count;
end
$$;

comment on function ledger.seal(int) is
  'Seals rows of history that are new in a block: of each table the first so many, and whole ids, '
  'so that an id with more rows is not divided. Orders that were open and have ended are among '
  'them; where more than 300,000 are open, at least once a minute. Returns how many rows, 0 if '
  'there is nothing new. Errors: UNFIT_SESSION. Locks: an advisory lock of its own; does nothing '
  'while another transaction has it. It locks nothing that a command of trading waits for.';
