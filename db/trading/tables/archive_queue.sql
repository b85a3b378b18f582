create table trading.archive_queue (
  order_id bigint primary key,
  look_at timestamptz not null
);

create index archive_queue_by_time on trading.archive_queue (look_at);

comment on table trading.archive_queue is
  'Orders without a fill that archival has passed, and when to look at them again: 30 days after '
  'they were cancelled or, if they were open, after they were seen, since they cannot be due '
  'before. Written by archival only, so that it costs trading nothing.';
