create table trading.archive_progress (
  singleton boolean primary key default true,
  last_order_id bigint not null default 0,
  constraint archive_progress_is_one_row check (singleton)
);

comment on table trading.archive_progress is
  'How far archival has come through trading.orders: one row, which archival locks.';
comment on column trading.archive_progress.last_order_id is
  'Each order up to this one was looked at once it was 30 days old.';

insert into trading.archive_progress default values;
