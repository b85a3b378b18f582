--! Previous: sha1:891dda45a0c96ba0e5b939aecf48bbc4c64b5c6f
--! Hash: sha1:875225ec25cd0c28b5ffa8963b57582711e31c89
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
