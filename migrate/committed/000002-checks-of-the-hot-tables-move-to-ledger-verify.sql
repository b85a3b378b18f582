--! Previous: sha1:89c40ac7aa1b7857809f2beee046ef3df9fbb8cb
--! Hash: sha1:31eb1bd9a63289f78bdfcae614e8aa06de8be844
--! Message: Checks of the hot tables move to ledger.verify

-- What compares columns of these tables is checked by ledger.verify(): PostgreSQL reads and plans
-- each check once more in every statement, which was a fifth of the cost of an order.
set local lock_timeout = '500ms';
set local role exchange_owner;
lock table
  trading.market_state, trading.traders, trading.idempotency_keys, trading.active_orders,
  trading.ended_orders, trading.trades, trading.holdings;
alter table trading.market_state
  drop constraint market_state_depth_has_each_price_of_both_sides,
  drop constraint market_state_depth_is_not_negative;
alter table trading.traders
  drop constraint traders_limits_are_not_negative,
  drop constraint traders_limits_that_wait_say_until_when,
  drop constraint traders_are_frozen_by_an_operator_for_a_reason,
  drop constraint traders_confirmed_their_age_at_a_time;
alter table trading.idempotency_keys
  drop constraint idempotency_keys_stand_for_an_order_or_a_request,
  drop constraint idempotency_keys_of_orders_have_no_reply;
alter table trading.active_orders
  drop constraint active_orders_rest_or_wait_for_release,
  drop constraint active_orders_on_the_book_have_shares_left,
  drop constraint active_orders_fill_up_to_their_quantity;
alter table trading.ended_orders
  drop constraint ended_orders_fill_up_to_their_quantity,
  drop constraint ended_orders_are_filled_or_cancelled_for_a_reason;
alter table trading.trades drop constraint trades_move_the_cash_of_their_shares;
alter table trading.holdings
  drop constraint holdings_without_yes_shares_cost_nothing,
  drop constraint holdings_of_yes_shares_have_an_id,
  drop constraint holdings_without_no_shares_cost_nothing,
  drop constraint holdings_of_no_shares_have_an_id;
reset role;
