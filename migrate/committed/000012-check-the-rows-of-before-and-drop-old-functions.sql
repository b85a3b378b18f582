--! Previous: sha1:e9550e94bc90bd2a1ce7b14574c63778c4c9c97e
--! Hash: sha1:07a79001ab40a96de1eecdc69bc379f58a51220d
--! Message: Check the rows of before and drop old functions

set local lock_timeout = '2s';
set local role exchange_owner;
alter table trading.idempotency_keys
  validate constraint idempotency_keys_stand_for_an_order_or_a_request;
alter table trading.idempotency_keys
  validate constraint idempotency_keys_of_orders_have_no_reply;
alter table identity.api_keys validate constraint api_keys_scopes_are_read_trade_or_both;
alter table identity.api_keys validate constraint api_keys_expire_at_a_moment_after_they_are_made;
alter table identity.api_keys validate constraint api_keys_allow_from_1_to_20_addresses;
alter table identity.api_keys validate constraint api_keys_allow_ipv4_addresses_as_such;
alter table identity.api_keys validate constraint api_keys_last_used_address_is_that_of_a_use;
alter table identity.api_keys validate constraint api_keys_last_used_address_is_of_one_host;
alter table identity.api_keys validate constraint api_keys_replaces_fkey;
-- No call of before is left that names them: the index of the migration before waited for those.
drop function trading.cancel_active_orders(
  bigint, bigint[], trading.cancel_reason, timestamptz, boolean
);
drop function trading.end_active_orders(
  bigint, bigint[], trading.cancel_reason, timestamptz, boolean
);
reset role;
