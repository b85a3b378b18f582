-- The same without a copy of either side.
--!include planner/nested_loops.sql
set enable_material = off
set enable_memoize = off
