create or replace function api.get_own_standing(user_id uuid, category text, "window" text)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
  select json_build_object(
    'self', (
      select leaderboard.entry_object(s, u, leaderboard.rank_of(s))
      from identity.users as u
      join leaderboard.standings as s
        on s.user_id = u.id
        and s.category_id = c.id
        and s.window_kind = get_own_standing."window"::leaderboard.window_kind
      where u.public_id = get_own_standing.user_id
        and exists (select from leaderboard.state as x where x.snapshot_at is not null)
    )
  )
  from leaderboard.category_id(get_own_standing.category) as c (id)
  where c.id is not null
$$;

comment on function api.get_own_standing(uuid, text, text) is
  'The body of GET /leaderboard/me: the caller''s entry, complete even if their profile is '
  'private, or null in its place when they realised nothing in the window; or null for an unknown '
  'category.';
