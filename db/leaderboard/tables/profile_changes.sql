create table leaderboard.profile_changes (
  id bigint generated always as identity primary key,
  user_id bigint not null
);

comment on table leaderboard.profile_changes is
  'Users who became private or public, or left or joined the leaderboard, since the last refresh. '
  'Until then readers correct the counts of public traders by these rows. No foreign key: it would '
  'lock the user.';
