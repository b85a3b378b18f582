create table leaderboard.wins (
  market_id bigint not null,
  category_id bigint not null,
  user_id bigint not null,
  side trading.side not null,
  day date not null,
  realised_cents core.amount not null,
  primary key (market_id, category_id, user_id, side),
  constraint wins_realised_something check (realised_cents > 0)
);

create index wins_by_size on leaderboard.wins (
  category_id, realised_cents desc, market_id, user_id, side
);
create index wins_of_a_day_by_size on leaderboard.wins (
  category_id, day, realised_cents desc, market_id, user_id, side
);

comment on table leaderboard.wins is
  'Settled positions that realised more than nothing, as the last resolution of their market has '
  'it, none of voided markets: twice, under its category and under 0 for all. For the biggest '
  'single win. No foreign keys: see leaderboard.days.';
comment on column leaderboard.wins.day is 'The UTC day of the first resolution.';
