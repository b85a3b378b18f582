create table trading.idempotency_keys (
  user_id bigint not null,
  key uuid not null,
  order_id bigint not null,
  created_at timestamptz not null,
  primary key (user_id, key)
);

create index idempotency_keys_by_age on trading.idempotency_keys (created_at);

comment on table trading.idempotency_keys is
  'Which order a trader''s idempotency key stands for. A key counts for 24 hours and is removed '
  'some time after.';
