create schema leaderboard authorization exchange_owner;
comment on schema leaderboard is
  'What traders realised, by day and by window, ranked. Derived from trading as of the last '
  'refresh, and compared with it by leaderboard.verify(). Private.';
