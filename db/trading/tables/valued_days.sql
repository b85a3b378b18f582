create table trading.valued_days (
  day date primary key,
  market_ids bigint[] not null,
  yes_bids int[] not null,
  no_bids int[] not null,
  last_user_id bigint not null default 0,
  finished_at timestamptz,
  constraint valued_days_have_two_bids_for_each_market check (
    cardinality(yes_bids) = cardinality(market_ids)
    and cardinality(no_bids) = cardinality(market_ids)
  )
);

comment on table trading.valued_days is
  'The UTC days of which jobs.value_accounts has written the exit values, or is writing them.';
comment on column trading.valued_days.market_ids is
  'The markets with a bid at the end of the day that were not resolved then.';
comment on column trading.valued_days.yes_bids is
  'Of each of these markets the best bid for a YES share at the end of the day, 0 without one; '
  'no_bids likewise for a NO share.';
comment on column trading.valued_days.last_user_id is 'Up to which user the values are written.';
comment on column trading.valued_days.finished_at is
  'When the value of the last user was written; null: values may be missing.';
