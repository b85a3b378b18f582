create table leaderboard.summaries (
  category_id bigint not null,
  window_kind leaderboard.window_kind not null,
  volume_cents core.amount not null,
  settled_trader_count core.amount not null,
  public_trader_count core.amount not null,
  primary key (category_id, window_kind),
  constraint summaries_count_public_traders_among_all
    check (public_trader_count <= settled_trader_count)
) with (fillfactor = 80);

comment on table leaderboard.summaries is 'Sums and counts over the standings of a window.';
comment on column leaderboard.summaries.volume_cents is 'Cost of the positions settled.';
comment on column leaderboard.summaries.settled_trader_count is
  'Traders with a settled position; public_trader_count, those of them who were public.';
