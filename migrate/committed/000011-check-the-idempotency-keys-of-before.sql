--! Previous: sha1:d9209f52d74dbf0f128960efd4a86f1b5665d41d
--! Hash: sha1:e26fdcabed1f9ad79c4e7104d60c5c1656d75aba
--! Message: Check the idempotency keys of before

set local lock_timeout = '2s';
set local role exchange_owner;
alter table trading.idempotency_keys
  validate constraint idempotency_keys_stand_for_an_order_or_a_request;
alter table trading.idempotency_keys
  validate constraint idempotency_keys_of_orders_have_no_reply;
reset role;
