create type leaderboard.window_kind as enum ('day', 'week', 'month', 'ytd', 'all');
comment on type leaderboard.window_kind is
  'UTC days that count: today, the last 7, the last 30, the year to date, all.';

create type leaderboard.change as (
  day date,
  category_id bigint,
  user_id bigint,
  pl_cents bigint,
  vol_cents bigint,
  win_count bigint,
  settled_count bigint,
  realised_count bigint
);
comment on type leaderboard.change is
  'What a day of leaderboard.days has to be changed by; below zero where a resolution was '
  'corrected. category_id 0 is all categories together.';

create type leaderboard.taken_facts as (
  changes leaderboard.change[],
  resolution_ids bigint[],
  through_trade_id bigint,
  through_conversion_id bigint,
  through_resolution_id bigint,
  is_current boolean
);
comment on type leaderboard.taken_facts is
  'What one refresh took from trading. A through_ id is the last one of a kind that was cut off '
  'at the size of a piece, so that every visible one up to it was taken; null when none was left. '
  'is_current says that nothing was left of any kind.';
