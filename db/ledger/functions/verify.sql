-- Every row is read. The settings make that whole tables by hashes and sorts, and never row by row
-- through an index, which the planner may prefer where it expects few rows.
create or replace function ledger.verify("full" boolean default false)
returns table (name text, object text, expected text, found text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
set random_page_cost = 100
set enable_nestloop = off
set jit = off
as $$
  select * from ledger.verify_accounts()
  union all
  select * from ledger.verify_entries()
  union all
  select * from ledger.verify_day_openings()
  union all
  select * from ledger.verify_journals()
  union all
  select * from risk.verify_limits()
  union all
  select * from ledger.verify_sequences()
  union all
  select * from ledger.verify_calls()
  union all
  select * from ledger.verify_settings()
  union all
  select * from ledger.verify_verifications()
  union all
  select * from ledger.verify_closed_days()
  union all
  select * from ledger.verify_proof()
  union all
  select * from ledger.verify_blocks(verify."full")
  union all
  select * from catalog.verify_calls()
  union all
  select * from identity.verify_calls()
  union all
  select * from identity.verify_staff()
  union all
  select * from admin.verify_proposals()
  union all
  select * from admin.verify_personal_arguments()
  union all
  select * from installer.verify_objects()
  union all
  select * from trading.verify_orders()
  union all
  select * from trading.verify_commands()
  union all
  select * from trading.verify_trades()
  union all
  select * from trading.verify_priority()
  union all
  select * from trading.verify_fees()
  union all
  select * from trading.verify_positions()
  union all
  select * from trading.verify_settlements()
  union all
  select * from trading.verify_conversions()
  union all
  select * from trading.verify_voids()
  union all
  select * from trading.verify_disputes()
  union all
  select * from trading.verify_books()
  union all
  select * from trading.verify_markets()
  union all
  select * from trading.verify_events()
  union all
  select * from trading.verify_candles()
$$;

comment on function ledger.verify(boolean) is
  'One row for each broken invariant of ledger, shares, orders, book, operators'' calls and '
  'schema: its name, the object, what was expected and what was found. No row on a sound database. '
  'One statement of stable functions, one for each subject, which all read its one snapshot: it '
  'may run while trading goes on. Of sealed history it recomputes the blocks that no run of '
  'jobs.verify_ledger() has verified yet, as many as ledger.blocks_to_verify says; with full all '
  'blocks.';
