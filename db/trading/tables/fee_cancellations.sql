create table trading.fee_cancellations (
  id bigint generated always as identity primary key,
  fee_schedule_id bigint not null references trading.fee_schedules (id),
  created_at timestamptz not null default core.now(),
  constraint fee_cancellations_happen_once unique (fee_schedule_id)
);

create constraint trigger fee_cancellations_are_committed_soon
  after insert on trading.fee_cancellations
  deferrable initially deferred
  for each row execute function trading.check_fee_moment();

comment on table trading.fee_cancellations is
  'Fee schedules that were withdrawn before they were in force, and so never are.';
