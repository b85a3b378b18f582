-- Rows of a range of an index are compared with a long list, which is made a hash table.
--!include planner/indexes.sql
set enable_nestloop = off
set enable_hashjoin = on
