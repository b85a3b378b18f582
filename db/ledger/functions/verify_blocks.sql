create or replace function ledger.verify_blocks("full" boolean)
returns table (name text, object text, expected text, found text)
language plpgsql stable
as $$
declare
  c_most_blocks constant int := 100;
  v_first bigint;
  v_last bigint;
  v_blocks ledger.blocks[];
  v_ranges ledger.block_ranges[];
begin
  select t.first_block, t.last_block into v_first, v_last
  from ledger.blocks_to_verify(verify_blocks."full") as t;

  for v_from in v_first .. v_last by c_most_blocks loop
    v_blocks := array(
      select b from ledger.blocks as b
      where b.number between v_from and least(v_from + c_most_blocks - 1, v_last)
      order by b.number
    );
    v_ranges := array(
      select r from ledger.block_ranges as r
      where r.block_number between v_from and least(v_from + c_most_blocks - 1, v_last)
    );

    return query
      select 'block follows the one before', 'block ' || n.number,
        coalesce(encode(p.hash, 'hex'), 'block ' || n.number - 1),
        coalesce(encode(b.previous_hash, 'hex'), 'none')
      from generate_series(v_from, least(v_from + c_most_blocks - 1, v_last)) as n (number)
      left join unnest(v_blocks) as b on b.number = n.number
      left join ledger.blocks as p on p.number = n.number - 1
      where b.number is null
        or n.number > 1 and b.previous_hash is distinct from p.hash;

    return query
      select 'block has the hash of what it says', 'block ' || b.number,
        encode(h.hash, 'hex'), encode(b.hash, 'hex')
      from unnest(v_blocks) as b
      cross join lateral (
        select array_agg(r) as ranges, sum(r.row_count) as row_count
        from unnest(v_ranges) as r
        where r.block_number = b.number
      ) as o
      cross join lateral ledger.hash_block(b, coalesce(o.ranges, '{}')) as h (hash)
      where h.hash is distinct from b.hash
        or o.row_count is distinct from b.row_count;

    return query
      select 'range begins where the one before ended',
        format('block %s, %s', i.block_number, i.sequence_name),
        coalesce(i.ended_at_id::text, 'none'), coalesce(i.after_id::text, 'none')
      from (
        select r.block_number, s.sequence_name, r.after_id,
          coalesce(
            lag(r.through_id) over (partition by s.sequence_name order by r.block_number),
            d.through_id
          ) as ended_at_id
        from (
          select distinct r.block_number, s.sequence_name, r.after_id, r.through_id
          from unnest(v_ranges) as r
          left join ledger.sealed_tables as s on s.table_name = r.table_name
        ) as r
        cross join lateral (select r.sequence_name) as s
        left join ledger.sealed_ids(v_from) as d on d.sequence_name = r.sequence_name
      ) as i
      where i.after_id is distinct from i.ended_at_id;

    return query
      select 'sealed rows are as they were', format('block %s, %s', r.block_number, r.table_name),
        format('%s rows, %s', r.row_count, encode(r.hash, 'hex')),
        format('%s rows, %s', h.row_count, encode(h.hash, 'hex'))
      from unnest(v_ranges) as r
      left join (
        select s.table_name, c.block_number, c.row_count, c.hash
        from ledger.sealed_tables as s
        cross join lateral (
          select array_agg(g) as ranges
          from unnest(v_ranges) as g
          where g.table_name = s.table_name
        ) as o
        cross join lateral ledger.hash_ranges(
          s.table_name::regclass, v_blocks, o.ranges
        ) as c
      ) as h on h.table_name = r.table_name and h.block_number = r.block_number
      where h.hash is distinct from r.hash
        or h.row_count is distinct from r.row_count;
  end loop;

  return query
    select 'table has no more rows than were sealed', s.table_name,
      coalesce(o.row_count, 0)::text, c.row_count::text
    from ledger.sealed_tables as s
    join ledger.sealed_ids() as d on d.sequence_name = s.sequence_name
    left join lateral (
      select sum(r.row_count) as row_count
      from ledger.block_ranges as r
      where r.table_name = s.table_name
    ) as o on true
    cross join lateral ledger.count_through(
      s.table_name::regclass, s.id_column, d.through_id,
      case when s.sequence_name = 'trading.order_ids'
        then array(select w.order_id from ledger.awaited_orders as w)
        else '{}'
      end
    ) as c (row_count)
    where c.row_count <> coalesce(o.row_count, 0);

  if verify_blocks."full" then
    return query
      select 'order that was open is sealed once it has ended',
        'order ' || coalesce(o.id, w.order_id),
        case when o.id is null then 'sealed' else 'awaited' end,
        case when o.id is null then 'awaited' else 'sealed' end
      from (
        select i.id from ledger.blocks as b cross join unnest(b.open_order_ids) as i (id)
        except
        select i.id from ledger.blocks as b cross join unnest(b.ended_order_ids) as i (id)
      ) as o
      full join ledger.awaited_orders as w on w.order_id = o.id
      where o.id is null or w.order_id is null;
  end if;
end
$$;

comment on function ledger.verify_blocks(boolean) is
  'The part of ledger.verify() about the seals of history: the chain of blocks, and whether the '
  'rows that they seal are as they were. One row for each broken invariant.';
