--! Previous: sha1:8c67dce7a7e5db07b8852dfdcb0e5fc4e4481c3e
--! Hash: sha1:108327cd008387c55295e2f830f51ea7d00dc01c
--! Message: Check the idempotency keys of before

set local lock_timeout = '2s';
set local role exchange_owner;
alter table trading.idempotency_keys
  validate constraint idempotency_keys_stand_for_an_order_or_a_request;
alter table trading.idempotency_keys
  validate constraint idempotency_keys_of_orders_have_no_reply;
reset role;
