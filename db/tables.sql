-- The tables of the database, and what they are made of, in the order they build on each other. The
-- first migration includes this file. Later ones say what changes: docs/development.md.

--!include roles.sql
set local role exchange_owner;
alter default privileges revoke execute on functions from public;
reset role;

-- Schemas
--!include core/schema.sql
--!include installer/schema.sql
--!include identity/schema.sql
--!include catalog/schema.sql
--!include ledger/schema.sql
--!include trading/schema.sql
--!include risk/schema.sql
--!include rate_limits/schema.sql
--!include leaderboard/schema.sql
--!include admin/schema.sql
--!include api/schema.sql
--!include jobs/schema.sql
--!include analytics/schema.sql

set local role exchange_owner;

-- Types of columns
--!include core/types.sql
--!include catalog/types.sql
--!include ledger/types.sql
--!include rate_limits/types.sql
--!include trading/types.sql
--!include leaderboard/types.sql

-- Functions of defaults, checks and triggers
--!include core/functions/now.sql
--!include core/functions/uuid_v7.sql
--!include ledger/functions/refuse_change.sql
--!include ledger/functions/check_new_entries.sql
--!include catalog/functions/count_event.sql
--!include catalog/functions/count_market.sql
--!include catalog/functions/list_market.sql
--!include catalog/functions/set_words.sql
--!include catalog/functions/renew_words.sql
--!include leaderboard/functions/band.sql
--!include identity/functions/is_email.sql
--!include identity/functions/is_handle.sql
--!include catalog/functions/is_payout_of.sql

-- Tables
--!include installer/tables/installations.sql
--!include installer/tables/files.sql
--!include installer/tables/objects.sql
--!include core/tables/error_codes.sql
--!include core/tables/settings.sql
--!include core/tables/job_ticks.sql
--!include core/tables/worker_heartbeat.sql
--!include identity/tables/users.sql
--!include identity/tables/api_keys.sql
--!include identity/tables/staff_keys.sql
--!include identity/tables/sessions.sql
--!include identity/tables/session_tokens.sql
--!include identity/tables/settings.sql
--!include identity/tables/passwords.sql
--!include identity/tables/email_claims.sql
--!include identity/tables/links.sql
--!include identity/tables/passkeys.sql
--!include identity/tables/passkey_challenges.sql
--!include identity/tables/mails.sql
--!include catalog/tables/categories.sql
--!include catalog/tables/events.sql
--!include catalog/tables/markets.sql
--!include catalog/tables/market_listings.sql
--!include trading/tables/traders.sql
--!include risk/tables/limit_changes.sql
--!include ledger/tables/outside_world.sql
--!include ledger/tables/posted_journals.sql
--!include ledger/tables/posted_entries.sql
--!include ledger/tables/cash_movements.sql
--!include ledger/tables/fee_payouts.sql
--!include ledger/tables/day_openings.sql
--!include ledger/tables/verifications.sql
--!include rate_limits/tables/buckets.sql
--!include rate_limits/tables/rate_policies.sql
--!include rate_limits/tables/windows.sql
--!include rate_limits/tables/grants.sql
--!include rate_limits/tables/allowances.sql
--!include rate_limits/tables/stream_caps.sql
--!include rate_limits/tables/stream_leases.sql
--!include rate_limits/tables/open_streams.sql
--!include trading/tables/fee_schedules.sql
--!include trading/tables/market_state.sql
--!include trading/tables/active_orders.sql
--!include trading/tables/ended_orders.sql
--!include trading/tables/order_reductions.sql
--!include trading/tables/order_replacements.sql
--!include trading/tables/archived_orders.sql
--!include trading/tables/trades.sql
--!include trading/tables/candles.sql
--!include trading/tables/candle_progress.sql
--!include trading/tables/holdings.sql
--!include trading/tables/set_conversions.sql
--!include trading/tables/resolutions.sql
--!include trading/tables/settlements.sql
--!include trading/tables/idempotency_keys.sql
--!include trading/tables/dead_man_switches.sql
--!include trading/tables/outbox.sql
--!include trading/tables/sent_events.sql
--!include trading/tables/outbox_relay.sql
--!include leaderboard/tables/state.sql
--!include leaderboard/tables/markets.sql
--!include leaderboard/tables/days.sql
--!include leaderboard/tables/standings.sql
--!include leaderboard/tables/bands.sql
--!include leaderboard/tables/summaries.sql
--!include leaderboard/tables/open_interest.sql
--!include leaderboard/tables/wins.sql
--!include leaderboard/tables/profile_changes.sql
--!include admin/tables/audit_log.sql

reset role;
