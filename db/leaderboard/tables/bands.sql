create table leaderboard.bands (
  category_id bigint not null,
  window_kind leaderboard.window_kind not null,
  band int not null,
  trader_count core.amount not null,
  primary key (category_id, window_kind, band)
) with (fillfactor = 80);

comment on table leaderboard.bands is
  'How many standings of a window fall into each band of profit. A rank is the count of the bands '
  'above and of the better ones within one band, so no query counts a million standings.';
