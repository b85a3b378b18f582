--! Previous: sha1:002d1b6a5adaa8401839756d66f00879b0e1e183
--! Hash: sha1:f98b0cf59dc5ef83bdbb7c5ca66cd0208eb55196
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
