create table leaderboard.standings (
  user_id bigint not null,
  category_id bigint not null,
  window_kind leaderboard.window_kind not null,
  user_public_id uuid not null,
  pl_cents bigint not null,
  vol_cents core.amount not null,
  win_count core.amount not null,
  settled_count core.amount not null,
  realised_count core.amount not null,
  is_public boolean not null,
  band int not null generated always as (leaderboard.band(pl_cents)) stored,
  primary key (user_id, category_id, window_kind),
  constraint standings_realised_something check (realised_count > 0),
  constraint standings_win_what_was_settled check (win_count <= settled_count),
  constraint standings_count_what_was_settled_as_realised check (settled_count <= realised_count)
);

create index standings_by_rank on leaderboard.standings (
  category_id, window_kind, band desc, pl_cents desc, vol_cents desc, user_public_id
);

comment on table leaderboard.standings is
  'The sums of leaderboard.days over each window, for each user who realised something in it. '
  'Their order by rank is that of the index. No foreign keys: see leaderboard.days.';
comment on column leaderboard.standings.user_public_id is
  'As in identity.users: the last criterion of the rank.';
comment on column leaderboard.standings.is_public is
  'Whether the trader was counted as public, see leaderboard.summaries. What is shown of a trader '
  'is decided by identity.users at the moment of reading.';
comment on column leaderboard.standings.band is
  'Of leaderboard.bands. Rises with pl_cents, so that it does not disturb the order.';
