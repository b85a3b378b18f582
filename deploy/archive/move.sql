-- On the primary, as superuser, once for each month: change its name. Copies the partition to the
-- other server, compares the copies, and puts the one there in the place of the one here. Nothing
-- changes unless they are equal. Orders that are archived meanwhile wait.

begin;
set local lock_timeout = '2s';
-- The same lock as trading.archive_orders takes.
select pg_advisory_xact_lock((29037::bigint << 44) - 2);

import foreign schema trading limit to (archived_orders_2026_01)
from server pgmarkets_archive into pgmarkets_archive;
insert into pgmarkets_archive.archived_orders_2026_01
select * from trading.archived_orders_2026_01;

do $$
declare
  v_bounds constant text := (
    select pg_get_expr(c.relpartbound, c.oid)
    from pg_class as c
    where c.oid = 'trading.archived_orders_2026_01'::regclass
  );
  v_check record;
begin
  if exists (
    (table trading.archived_orders_2026_01 except table pgmarkets_archive.archived_orders_2026_01)
    union all
    (table pgmarkets_archive.archived_orders_2026_01 except table trading.archived_orders_2026_01)
  ) then
    raise exception 'The copies differ';
  end if;
  drop table trading.archived_orders_2026_01;
  alter foreign table pgmarkets_archive.archived_orders_2026_01 set schema trading;
  alter foreign table trading.archived_orders_2026_01 owner to exchange_owner;
  -- A partition has the checks of its table.
  for v_check in
    select c.conname, pg_get_constraintdef(c.oid) as definition
    from pg_constraint as c
    where c.conrelid = 'trading.archived_orders'::regclass
      and c.contype = 'c'
  loop
    execute format(
      'alter foreign table trading.archived_orders_2026_01 add constraint %I %s',
      v_check.conname, v_check.definition
    );
  end loop;
  execute
    'create trigger archived_orders_are_append_only '
    'before update or delete or truncate on trading.archived_orders_2026_01 '
    'for each statement execute function ledger.refuse_change()';
  execute
    'alter table trading.archived_orders attach partition trading.archived_orders_2026_01 '
    || v_bounds;
end
$$;

commit;
