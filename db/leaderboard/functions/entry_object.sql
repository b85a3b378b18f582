create or replace function leaderboard.entry_object(
  standing leaderboard.standings, trader identity.users, rank bigint
)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'rank', entry_object.rank,
    'userId', (entry_object.trader).public_id,
    'handle', (entry_object.trader).handle,
    'displayName', (entry_object.trader).display_name,
    'avatarUrl', (entry_object.trader).avatar_url,
    'plCents', (entry_object.standing).pl_cents,
    'volCents', (entry_object.standing).vol_cents,
    'winRate', leaderboard.share(
      (entry_object.standing).win_count, (entry_object.standing).settled_count
    ),
    'roi', leaderboard.share(
      (entry_object.standing).pl_cents, (entry_object.standing).vol_cents
    ),
    'settledCount', (entry_object.standing).settled_count
  )
$$;

comment on function leaderboard.entry_object(leaderboard.standings, identity.users, bigint) is
  'A complete entry of the leaderboard.';
