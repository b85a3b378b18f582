create or replace function leaderboard.biggest_win(
  category_id bigint, window_kind leaderboard.window_kind, day date
)
returns leaderboard.wins
language plpgsql stable
as $$
declare
  v_win leaderboard.wins;
begin
  if biggest_win.window_kind = 'all' then
    select w.* into v_win
    from leaderboard.wins as w
    where w.category_id = biggest_win.category_id
      and exists (
        select
        from identity.users as u
        where u.id = w.user_id
          and not (u.private or u.leaderboard_opt_out)
      )
    order by w.realised_cents desc, w.market_id, w.user_id, w.side
    limit 1;
    return v_win;
  end if;

  select b.* into v_win
  from leaderboard.windows(biggest_win.day) as x
  cross join lateral generate_series(0, biggest_win.day - x.from_day) as d (days_ago)
  cross join lateral (
    select w.*
    from leaderboard.wins as w
    where w.category_id = biggest_win.category_id
      and w.day = biggest_win.day - d.days_ago
      and exists (
        select
        from identity.users as u
        where u.id = w.user_id
          and not (u.private or u.leaderboard_opt_out)
      )
    order by w.realised_cents desc, w.market_id, w.user_id, w.side
    limit 1
  ) as b
  where x.window_kind = biggest_win.window_kind
  order by b.realised_cents desc, b.market_id, b.user_id, b.side
  limit 1;
  return v_win;
end
$$;

comment on function leaderboard.biggest_win(bigint, leaderboard.window_kind, date) is
  'The settled position of a public trader that realised most in the window that ends on the day; '
  'all of it null when there is none. Looks at the best of each day of the window.';
