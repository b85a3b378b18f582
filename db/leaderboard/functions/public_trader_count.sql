create or replace function leaderboard.public_trader_count(
  category_id bigint, window_kind leaderboard.window_kind
)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select
    coalesce(
      (
        select y.public_trader_count
        from leaderboard.summaries as y
        where y.category_id = public_trader_count.category_id
          and y.window_kind = public_trader_count.window_kind
      ),
      0
    ) + (
      select count(*) filter (where not s.is_public) - count(*) filter (where s.is_public)
      from (select distinct c.user_id from leaderboard.profile_changes as c) as p
      join identity.users as u on u.id = p.user_id
      join leaderboard.standings as s
        on s.user_id = p.user_id
        and s.category_id = public_trader_count.category_id
        and s.window_kind = public_trader_count.window_kind
      where s.settled_count > 0
        and s.is_public = (u.private or u.leaderboard_opt_out)
    )
$$;

comment on function leaderboard.public_trader_count(bigint, leaderboard.window_kind) is
  'How many public traders had a position settled in a window, by their profiles as they are now.';
