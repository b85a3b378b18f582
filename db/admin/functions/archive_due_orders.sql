create or replace function admin.archive_due_orders()
returns int
language plpgsql volatile
as $$
declare
  v_piece int;
  v_archived int := 0;
begin
  loop
    begin
      v_piece := trading.archive_orders(1000);
    exception when lock_not_available then
      v_piece := 0;
    end;
    exit when v_piece = 0;
    v_archived := v_archived + v_piece;
  end loop;
  return v_archived;
end
$$;

comment on function admin.archive_due_orders() is
  'Archives all orders that are due, and returns how many; none while a job archives, or where a '
  'partition is missing and the archive is being read. Private to the schema. Locks: those of '
  'trading.archive_orders.';
