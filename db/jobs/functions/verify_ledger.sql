create or replace function jobs.verify_ledger()
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_rows_kept constant int := 20;
  v_started_at timestamptz := core.now();
  v_verified_block bigint;
  v_broken_count bigint;
  v_first_rows jsonb;
begin
  select nullif(t.last_block, 0) into v_verified_block
  from ledger.blocks_to_verify("full" => false) as t;
  select
    count(*),
    coalesce(jsonb_agg(to_jsonb(b) - 'place') filter (where b.place <= c_most_rows_kept), '[]')
  into v_broken_count, v_first_rows
  from (
    select row_number() over () as place, v.name, v.object, v.expected, v.found
    from ledger.verify() as v
  ) as b;

  insert into ledger.verifications (
    started_at, finished_at, broken_count, first_rows, verified_block
  )
  values (v_started_at, core.now(), v_broken_count, v_first_rows, v_verified_block);
  return v_broken_count;
end
$$;

comment on function jobs.verify_ledger() is
  'Runs ledger.verify() and keeps the result in ledger.verifications; returns how many rows it '
  'had. It reads every entry, order and trade. It waits for no lock and blocks nothing, but while '
  'it runs vacuum cannot remove rows that die meanwhile. Locks: none.';
