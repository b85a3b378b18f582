-- Small sets are joined to what an index gives for each of their rows.
--!include planner/indexes.sql
set enable_hashjoin = off
set enable_mergejoin = off
