create table trading.idempotency_keys (
  user_id bigint not null,
  key uuid not null,
  order_id bigint,
  created_at timestamptz not null,
  request_fingerprint uuid,
  reply text,
  cancelled_orders int,
  primary key (user_id, key)
);

create index idempotency_keys_by_age on trading.idempotency_keys (created_at);

comment on table trading.idempotency_keys is
  'What a trader''s idempotency key stands for: an order, or another command with its answer. A '
  'key counts for 24 hours and is removed some time after.';
comment on column trading.idempotency_keys.order_id is
  'The order that was placed with the key; null: the key is of another command.';
comment on column trading.idempotency_keys.request_fingerprint is
  'Half of the SHA-256 of the request; null: any further request with the key is the same order.';
comment on column trading.idempotency_keys.reply is
  'The body of the first answer; null: the key is of an order, or the command is under way.';
comment on column trading.idempotency_keys.cancelled_orders is
  'Of a command that cancels all orders: how many it has cancelled so far.';
