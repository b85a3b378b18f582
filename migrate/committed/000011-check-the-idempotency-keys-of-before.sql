--! Previous: sha1:faff3e11605f424a4f4f6deb6137dbc41f6d3df3
--! Hash: sha1:b64b425274eac51d418a447ea8ffd916feca1ec1
--! Message: Check the idempotency keys of before

set local lock_timeout = '2s';
set local role exchange_owner;
alter table trading.idempotency_keys
  validate constraint idempotency_keys_stand_for_an_order_or_a_request;
alter table trading.idempotency_keys
  validate constraint idempotency_keys_of_orders_have_no_reply;
reset role;
