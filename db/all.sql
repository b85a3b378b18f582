-- The map of the database: every file of it, in the order they build on each other.
-- Migrations include this file, or the files that changed.

--!include roles.sql
set local role exchange_owner;
alter default privileges revoke execute on functions from public;
reset role;


-- Schemas
--!include core/schema.sql
--!include identity/schema.sql
--!include catalog/schema.sql
--!include ledger/schema.sql
--!include trading/schema.sql
--!include risk/schema.sql
--!include admin/schema.sql
--!include api/schema.sql

set local role exchange_owner;

-- Types
--!include core/types.sql
--!include catalog/types.sql
--!include ledger/types.sql
--!include risk/types.sql
--!include trading/types.sql
--!include api/types.sql

-- What the tables need: errors, the clock, identifiers
--!include core/tables/error_codes.sql
--!include core/functions/raise_error.sql
--!include core/functions/raise_violation.sql
--!include core/functions/now.sql
--!include core/functions/uuid_v7.sql
--!include core/functions/iso8601.sql
--!include core/functions/half_up.sql
--!include core/functions/page_object.sql
--!include core/functions/base62.sql
--!include core/functions/crc32.sql
--!include ledger/functions/refuse_change.sql
--!include ledger/functions/check_new_entries.sql
--!include catalog/functions/count_event.sql
--!include catalog/functions/count_market.sql

-- Tables
--!include core/tables/settings.sql
--!include identity/tables/users.sql
--!include identity/tables/api_keys.sql
--!include catalog/tables/categories.sql
--!include catalog/tables/events.sql
--!include catalog/tables/markets.sql
--!include ledger/tables/accounts.sql
--!include ledger/tables/journals.sql
--!include ledger/tables/entries.sql
--!include ledger/tables/cash_movements.sql
--!include ledger/tables/day_openings.sql
--!include risk/tables/traders.sql
--!include trading/tables/fee_schedules.sql
--!include trading/tables/books.sql
--!include trading/tables/book_levels.sql
--!include trading/tables/orders.sql
--!include trading/tables/open_orders.sql
--!include trading/tables/trades.sql
--!include trading/tables/positions.sql
--!include trading/tables/set_conversions.sql
--!include trading/tables/resolutions.sql
--!include trading/tables/settlements.sql
--!include trading/tables/idempotency_keys.sql
--!include trading/tables/event_payloads.sql
--!include trading/tables/announcements.sql
--!include admin/tables/audit_log.sql

-- Functions: catalogue, identity, ledger, risk
--!include catalog/functions/category_id.sql
--!include identity/functions/lock_user.sql
--!include identity/functions/new_api_key.sql
--!include ledger/functions/post.sql
--!include ledger/functions/move_cash.sql
--!include ledger/functions/verify.sql
--!include risk/functions/has_limits.sql
--!include risk/functions/limits_in_force.sql
--!include risk/functions/net_spent_since.sql
--!include risk/functions/exceeds_limits.sql
--!include risk/functions/change_limit.sql

-- Functions: the engine
--!include trading/functions/lock_market.sql
--!include trading/functions/fee_cents.sql
--!include trading/functions/filled_status.sql
--!include trading/functions/crosses.sql
--!include trading/functions/gate_refusal.sql
--!include trading/functions/funding_refusal.sql
--!include trading/functions/refusal_message.sql
--!include trading/functions/open_cost_cents.sql
--!include trading/functions/order_object.sql
--!include trading/functions/balance_object.sql
--!include trading/functions/position_object.sql
--!include trading/functions/fill_object.sql
--!include trading/functions/fills_of_order.sql
--!include trading/functions/replay_answer.sql
--!include trading/functions/announce_market.sql
--!include trading/functions/announce_user.sql
--!include trading/functions/read_context.sql
--!include trading/functions/read_requests.sql
--!include trading/functions/read_replays.sql
--!include trading/functions/read_book_slice.sql
--!include trading/functions/lock_traders.sql
--!include trading/functions/lock_more_traders.sql
--!include trading/functions/read_holdings.sql
--!include trading/functions/read_limits.sql
--!include trading/functions/read_money.sql
--!include trading/functions/rest_order.sql
--!include trading/functions/match_orders.sql
--!include trading/functions/level_changes.sql
--!include trading/functions/settle_makers.sql
--!include trading/functions/settle_fills.sql
--!include trading/functions/settle_orders.sql
--!include trading/functions/settle_keys.sql
--!include trading/functions/announce_to_makers.sql
--!include trading/functions/order_answers.sql
--!include trading/functions/cancel_open_orders.sql
--!include trading/functions/cancel_order.sql
--!include trading/functions/change_market_status.sql
--!include trading/functions/best_price.sql
--!include trading/functions/depth.sql
--!include trading/functions/shares_ahead.sql
--!include trading/functions/listed_order_object.sql
--!include trading/functions/open_order_object.sql
--!include risk/functions/exclude.sql

-- Functions: for operators
--!include admin/functions/audit.sql
--!include admin/functions/create_category.sql
--!include admin/functions/create_event.sql
--!include admin/functions/set_event_live.sql
--!include admin/functions/create_market.sql
--!include admin/functions/set_market_status.sql
--!include admin/functions/create_user.sql
--!include admin/functions/set_profile.sql
--!include admin/functions/create_api_key.sql
--!include admin/functions/list_api_keys.sql
--!include admin/functions/revoke_api_key.sql
--!include admin/functions/deposit.sql
--!include admin/functions/withdraw.sql
--!include admin/functions/set_loss_limits.sql
--!include admin/functions/self_exclude.sql
--!include admin/functions/set_trading_pause.sql
--!include admin/functions/set_fee_schedule.sql

-- Functions: for the HTTP interface
--!include api/functions/authenticate.sql
--!include api/functions/record_key_use.sql
--!include api/functions/announce.sql
--!include api/functions/place_orders.sql
--!include api/functions/cancel_order.sql
--!include api/functions/list_orders.sql
--!include api/functions/get_order.sql
--!include api/functions/get_account.sql
--!include api/functions/list_account_orders.sql
--!include api/functions/get_portfolio.sql
--!include api/functions/list_categories.sql
--!include api/functions/list_events.sql
--!include api/functions/get_event.sql
--!include api/functions/list_category_markets.sql
--!include api/functions/get_market.sql
--!include api/functions/get_order_book.sql
--!include api/functions/list_trades.sql

-- Grants
--!include grants.sql

reset role;
