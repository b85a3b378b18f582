-- On the warehouse, as superuser, once the new subscription has copied all tables: adds the rows of
-- schema kept that the primary no longer has.

begin;

-- They were checked when they first came.
set local session_replication_role = replica;
insert into ledger.posted_journals select * from kept.journals on conflict do nothing;
insert into ledger.posted_entries select * from kept.entries on conflict do nothing;
insert into trading.trades select * from kept.trades on conflict do nothing;
insert into trading.archived_orders select * from kept.orders on conflict do nothing;
drop schema kept cascade;

commit;
