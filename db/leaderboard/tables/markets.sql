create table leaderboard.markets (
  market_id bigint primary key references catalog.markets (id),
  last_trade_id bigint not null,
  last_conversion_id bigint not null,
  last_resolution_id bigint not null,
  escrow_cents core.amount not null,
  last_void_id bigint not null default 0
) with (fillfactor = 80);

comment on table leaderboard.markets is
  'How far the leaderboard has come in each market. Within a market ids commit in order, since '
  'they are given out under its lock, so all above the last one taken are new.';
comment on column leaderboard.markets.escrow_cents is
  'What the market had in escrow then: its part of the open interest.';
