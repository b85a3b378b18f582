create or replace function ledger.count_through(
  relation regclass, id_column text, through_id bigint, but_ids bigint[]
)
returns bigint
language plpgsql stable
as $$
declare
  v_count bigint;
begin
  execute format(
    'select count(*) from %s as t where t.%I <= $1 and t.%I <> all ($2)',
    count_through.relation, count_through.id_column, count_through.id_column
  )
  into v_count using count_through.through_id, count_through.but_ids;
  return v_count;
end
$$;

comment on function ledger.count_through(regclass, text, bigint, bigint[]) is
  'How many rows of a sealed table have an id up to this one, but for some ids.';
