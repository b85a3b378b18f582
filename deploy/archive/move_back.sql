-- On the primary, as superuser, once for each month: change its name. The way back from the other
-- server, whose table stays there.

begin;
set local lock_timeout = '2s';
select pg_advisory_xact_lock((29037::bigint << 44) - 2);

create table pgmarkets_archive.archived_orders_2026_01 (
  like trading.archived_orders including all, primary key (public_id)
);
insert into pgmarkets_archive.archived_orders_2026_01
select * from trading.archived_orders_2026_01;

do $$
declare
  v_bounds constant text := (
    select pg_get_expr(c.relpartbound, c.oid)
    from pg_class as c
    where c.oid = 'trading.archived_orders_2026_01'::regclass
  );
begin
  drop foreign table trading.archived_orders_2026_01;
  alter table pgmarkets_archive.archived_orders_2026_01 set schema trading;
  alter table trading.archived_orders_2026_01 owner to exchange_owner;
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
