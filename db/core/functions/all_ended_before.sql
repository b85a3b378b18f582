create or replace function core.all_ended_before(xid xid8)
returns boolean
language sql stable parallel safe
return xid <= pg_snapshot_xmin(pg_current_snapshot())
  -- One from beyond the present belongs to the cluster that this database was restored from.
  or xid > pg_snapshot_xmax(pg_current_snapshot());

comment on function core.all_ended_before(xid8) is
  'Whether all transactions with lower numbers have ended, as the statement at hand sees it: what '
  'they wrote can be seen from then on. Null for none.';
