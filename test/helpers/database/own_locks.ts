/**
 * For `from`: the locks in the database that is asked. Other tests have databases on the same server, in
 * which tables have the same numbers.
 */
export const OWN_LOCKS = `(
  select x.*
  from pg_catalog.pg_locks as x
  where x.database = (
    select d.oid from pg_catalog.pg_database as d where d.datname = current_database()
  )
) as l`;
