--! Previous: sha1:ce38cca79eaa7ae01739a86c331c3bb60185a50c
--! Hash: sha1:8609e302e59ebddaeabf249fb78aecb0be25d07e
--! Message: Check the rows of before

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
reset role;
