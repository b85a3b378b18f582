create or replace function core.all_ended_before(xid xid8)
returns boolean
language sql stable parallel safe
return xid <= pg_snapshot_xmin(pg_current_snapshot())
  -- A number of the future is of the cluster that this database was restored from.
  or xid > pg_snapshot_xmax(pg_current_snapshot());

comment on function core.all_ended_before(xid8) is
  'Whether all transactions with lower numbers have ended, in the snapshot of the current '
  'statement: from then on all that they wrote is visible. Null for null.';
