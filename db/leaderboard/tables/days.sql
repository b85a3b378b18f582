create table leaderboard.days (
  day date not null,
  category_id bigint not null,
  user_id bigint not null,
  pl_cents bigint not null,
  vol_cents core.amount not null,
  win_count core.amount not null,
  settled_count core.amount not null,
  realised_count core.amount not null,
  primary key (day, category_id, user_id),
  constraint days_realised_something check (realised_count > 0),
  constraint days_win_what_was_settled check (win_count <= settled_count),
  constraint days_count_what_was_settled_as_realised check (settled_count <= realised_count)
) with (fillfactor = 80);

comment on table leaderboard.days is
  'What each trader realised on each UTC day in each category, and in all together (category_id '
  '0). Corrections change the day of the first resolution, voids that of what they undo. No '
  'foreign keys, since all of it is derived, and checked by leaderboard.verify().';
comment on column leaderboard.days.pl_cents is
  'Realised by settlements, sells and merges. vol_cents: cost of the positions settled. win_count '
  'of settled_count positions realised more than nothing. realised_count: settlements, sells and '
  'merges.';
