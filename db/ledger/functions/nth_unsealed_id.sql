create or replace function ledger.nth_unsealed_id(
  relation regclass, id_column text, after_id bigint, through_id bigint, place int
)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  v_id bigint;
begin
  execute format(
    'select t.id
     from (select %I as id from %s) as t
     where t.id > $1 and t.id <= $2
     order by t.id
     offset $3 limit 1',
    nth_unsealed_id.id_column, nth_unsealed_id.relation
  )
  into v_id
  using coalesce(nth_unsealed_id.after_id, -9223372036854775808), nth_unsealed_id.through_id,
    nth_unsealed_id.place - 1;
  return v_id;
end
$$;

comment on function ledger.nth_unsealed_id(regclass, text, bigint, bigint, int) is
  'The id of a row of a sealed table by its place among those with ids above after_id (null: all) '
  'up to through_id; null if there are fewer.';
