-- On the warehouse, as superuser, to start again once the subscription is disabled: keeps the history
-- that the primary may no longer have in schema kept, and empties what the subscription fills.

create schema kept;

do $$
begin
  -- Its last change would collide with the new copy.
  while exists (
    select
    from pg_stat_subscription as s
    where s.subname = 'pgmarkets_warehouse'
      and s.pid is not null
  )
  loop
    perform pg_sleep(0.1);
  end loop;

  -- Not the last week: after a failover the warehouse may have what never happened on the primary.
  create table kept.journals as
  select * from ledger.posted_journals where created_at < now() - interval '7 days';
  create table kept.entries as
  select e.* from ledger.posted_entries as e join kept.journals as j on j.id = e.journal_id;
  create table kept.trades as
  select * from trading.trades where created_at < now() - interval '7 days';
  create table kept.orders as
  select * from trading.archived_orders where cancelled_at < now() - interval '7 days';

  -- Otherwise the triggers refuse it.
  set local session_replication_role = replica;
  execute (
    select 'truncate ' || string_agg(r.srrelid::regclass::text, ', ') || ' cascade'
    from pg_subscription_rel as r
  );
end
$$;

-- The slot may be gone with the primary that had it, so it is not asked to drop it.
alter subscription pgmarkets_warehouse set (slot_name = none);
drop subscription pgmarkets_warehouse;
