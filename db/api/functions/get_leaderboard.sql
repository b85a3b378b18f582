create or replace function api.get_leaderboard(category text, "window" text, most int)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
begin
  return (
    select json_build_object(
      'category', get_leaderboard.category,
      'window', get_leaderboard."window",
      'entries', (
        select coalesce(
          json_agg(
            case
              when u.private or u.leaderboard_opt_out
                then json_build_object('isPrivate', true, 'rank', p.rank)
              else leaderboard.entry_object(p.standing, u, p.rank)
            end
            order by p.rank
          ),
          '[]'
        )
        from (
          select
            s as standing,
            s.user_id,
            row_number() over (
              order by s.band desc, s.pl_cents desc, s.vol_cents desc, s.user_public_id
            ) as rank
          from leaderboard.standings as s
          where s.category_id = c.id
            and s.window_kind = get_leaderboard."window"::leaderboard.window_kind
            and exists (select from leaderboard.state as x where x.snapshot_at is not null)
          order by s.band desc, s.pl_cents desc, s.vol_cents desc, s.user_public_id
          limit get_leaderboard.most
        ) as p
        join identity.users as u on u.id = p.user_id
      )
    )
    from leaderboard.category_id(get_leaderboard.category) as c (id)
    where c.id is not null
  );
end
$$;

comment on function api.get_leaderboard(text, text, int) is
  'The body of GET /leaderboard: the first ranks of a window, as of the last refresh, with the '
  'profiles as they are now; or null for an unknown category.';
