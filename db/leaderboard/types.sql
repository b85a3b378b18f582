create type leaderboard.window_kind as enum ('day', 'week', 'month', 'ytd', 'all');
comment on type leaderboard.window_kind is
  'UTC days that count: today, the last 7, the last 30, the year to date, all.';
