create or replace function admin.archive_due_orders()
returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_piece record;
  v_archived int := 0;
begin
  loop
    select a.looked_at, a.archived into v_piece
    from trading.archive_orders(1000) as a;
    exit when v_piece.looked_at = 0;
    v_archived := v_archived + v_piece.archived;
  end loop;
  return v_archived;
end
$$;

comment on function admin.archive_due_orders() is
  'Archives all orders that are due, and returns how many; none while a job archives. Private to '
  'the schema. Locks: those of trading.archive_orders.';
