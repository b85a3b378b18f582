create table leaderboard.open_interest (
  category_id bigint primary key,
  open_interest_cents core.amount not null
) with (fillfactor = 80);

comment on table leaderboard.open_interest is
  'Escrow of the unresolved markets of each category, and of all together (category_id 0).';
