create or replace function leaderboard.windows(day date)
returns table (window_kind leaderboard.window_kind, from_day date)
language sql immutable parallel safe
begin atomic
  select w.window_kind::leaderboard.window_kind, w.from_day
  from (
    values
      ('day', windows.day),
      ('week', windows.day - 6),
      ('month', windows.day - 29),
      ('ytd', date_trunc('year', windows.day::timestamp)::date),
      ('all', date '-infinity')
  ) as w (window_kind, from_day);
end;

comment on function leaderboard.windows(date) is
  'The first UTC day of each window that ends on a day.';
