create or replace function leaderboard.trader_object(trader identity.users, pl_cents bigint)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'userId', (trader_object.trader).public_id,
    'handle', (trader_object.trader).handle,
    'displayName', (trader_object.trader).display_name,
    'avatarUrl', (trader_object.trader).avatar_url,
    'plCents', trader_object.pl_cents
  )
$$;

comment on function leaderboard.trader_object(identity.users, bigint) is
  'The top trader of a summary.';
