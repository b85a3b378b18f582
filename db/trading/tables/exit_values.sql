create table trading.exit_values (
  user_id bigint not null,
  day date not null,
  exit_cents core.amount not null,
  primary key (user_id, day)
);

create trigger exit_values_are_append_only
  before update or delete or truncate on trading.exit_values
  for each statement execute function ledger.refuse_change();

comment on table trading.exit_values is
  'What the shares of each user were worth at the end of a UTC day at the best bids of that '
  'moment, before fees. A user without a row had 0, if trading.valued_days says that the day is '
  'finished. A void or correction of a later day changes nothing here. Append-only. No foreign '
  'key: see trading.active_orders.';
