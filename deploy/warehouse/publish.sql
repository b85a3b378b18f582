-- On the primary, as superuser, in the database of the exchange: what the warehouse gets, and the
-- login that it comes by. docs/operating/standbys.md, "A warehouse for history", has the steps.

-- Append-only tables. Only inserts are sent: whatever is deleted, truncated or detached on the
-- primary stays in the warehouse. The references and reasons of cash movements are not sent.
create publication pgmarkets_history for table
  ledger.posted_journals,
  ledger.posted_entries,
  ledger.cash_movements (journal_id, user_id, kind, amount_cents),
  ledger.fee_payouts (journal_id, amount_cents),
  ledger.day_openings,
  trading.trades,
  trading.archived_orders,
  trading.order_reductions,
  trading.order_replacements,
  trading.set_conversions,
  trading.resolutions,
  trading.settlements,
  trading.voids (
    id, market_id, trade_id, journal_id, taker_realised_cents, maker_realised_cents, fee_cents,
    outside_cents, created_at
  ),
  trading.voided_positions
with (publish = 'insert', publish_via_partition_root = true);

-- What changes. trading.ended_orders is here because its orders move to trading.archived_orders.
-- Of users only keys are sent: no names, no addresses, no cash, no limits.
create publication pgmarkets_state for table
  identity.users (id, public_id, private, leaderboard_opt_out, created_at),
  catalog.categories,
  catalog.events,
  catalog.markets,
  trading.fee_schedules,
  trading.fee_cancellations,
  trading.market_state,
  trading.active_orders,
  trading.ended_orders,
  trading.holdings
with (publish = 'insert, update, delete', publish_via_partition_root = true);

create role markets_warehouse login replication password 'change-me-7';
grant connect on database pgmarkets to markets_warehouse;
grant usage on schema catalog, identity, ledger, trading to markets_warehouse;

-- The first copy reads the tables, and these only. The rest comes from the WAL.
grant select on
  ledger.posted_journals, ledger.posted_entries, ledger.day_openings, trading.trades,
  trading.archived_orders, trading.order_reductions, trading.order_replacements,
  trading.set_conversions, trading.resolutions, trading.settlements, trading.voided_positions,
  catalog.categories, catalog.events, catalog.markets, trading.fee_schedules,
  trading.fee_cancellations, trading.market_state, trading.active_orders, trading.ended_orders,
  trading.holdings
to markets_warehouse;
grant select (journal_id, user_id, kind, amount_cents) on ledger.cash_movements
to markets_warehouse;
grant select (journal_id, amount_cents) on ledger.fee_payouts to markets_warehouse;
grant select (
  id, market_id, trade_id, journal_id, taker_realised_cents, maker_realised_cents, fee_cents,
  outside_cents, created_at
) on trading.voids to markets_warehouse;
grant select (id, public_id, private, leaderboard_opt_out, created_at) on identity.users
to markets_warehouse;
