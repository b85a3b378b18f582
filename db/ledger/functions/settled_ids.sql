create or replace function ledger.settled_ids()
returns table (sequence_name text, last_id bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_looks constant int := 100;
  c_pause_seconds constant double precision := 0.01;
  v_names text[];
  v_last_ids bigint[];
  v_writers text[];
  v_busy oid[];
  v_database oid;
begin
  select array_agg(n.name), array_agg(coalesce(pg_sequence_last_value(n.name::regclass), 0))
  into v_names, v_last_ids
  from (select distinct s.sequence_name as name from ledger.sealed_tables as s) as n;

  -- Copies of a database by CREATE DATABASE have the same oids of sequences.
  select d.oid into strict v_database
  from pg_catalog.pg_database as d
  where d.datname = current_database();

  -- A transaction locks a sequence before it takes its first id, and until it ends. So every id up
  -- to the last ones is of a transaction that has ended, or that has the lock now.
  v_writers := array(
    select l.virtualtransaction from pg_catalog.pg_locks as l
    where l.relation = any (v_names::regclass[]::oid[])
      and l.mode = 'RowExclusiveLock'
      and l.database = v_database
      and l.pid is distinct from pg_backend_pid()
  );
  for look in 1 .. c_most_looks loop
    -- A prepared transaction has no process, and no longer the name that it had.
    v_busy := array(
      select l.relation from pg_catalog.pg_locks as l
      where l.relation = any (v_names::regclass[]::oid[])
        and l.mode = 'RowExclusiveLock'
        and l.database = v_database
        and (l.virtualtransaction = any (v_writers) or l.pid is null)
    );
    exit when cardinality(v_busy) = 0;
    perform pg_sleep(c_pause_seconds);
  end loop;

  return query
    select s.name, s.last_id
    from unnest(v_names, v_last_ids) as s (name, last_id)
    where s.name::regclass <> all (v_busy);
end
$$;

comment on function ledger.settled_ids() is
  'The sequences of ledger.sealed_tables, each with an id up to which no transaction can commit a '
  'row any more: a later statement sees all rows that there will ever be. Waits up to a second '
  'for transactions that hold ids; a sequence with one that lasts longer is left out. Locks: the '
  'sequences, as taking an id does.';
