-- Rows are looked up by indexes. What such a function reads is little whatever the statistics say,
-- and a table without statistics is no exception. A plan is made once per session.
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
