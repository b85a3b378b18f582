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
  'corrected or something voided. category_id 0 is all categories together.';
