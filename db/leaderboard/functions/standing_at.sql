create or replace function leaderboard.standing_at(
  category_id bigint, window_kind leaderboard.window_kind, rank bigint
)
returns leaderboard.standings
language plpgsql stable
as $$
declare
  v_band int;
  v_better_count bigint;
  v_standing leaderboard.standings;
begin
  select b.band, b.better_count into v_band, v_better_count
  from (
    select
      x.band,
      x.trader_count,
      (sum(x.trader_count) over (order by x.band desc) - x.trader_count)::bigint as better_count
    from leaderboard.bands as x
    where x.category_id = standing_at.category_id
      and x.window_kind = standing_at.window_kind
  ) as b
  where b.better_count < standing_at.rank
    and b.better_count + b.trader_count >= standing_at.rank;

  select s.* into v_standing
  from leaderboard.standings as s
  where s.category_id = standing_at.category_id
    and s.window_kind = standing_at.window_kind
    and s.band = v_band
  order by s.band desc, s.pl_cents desc, s.vol_cents desc, s.user_public_id
  limit 1
  offset standing_at.rank - 1 - v_better_count;
  return v_standing;
end
$$;

comment on function leaderboard.standing_at(bigint, leaderboard.window_kind, bigint) is
  'The standing that has a rank in a window; all of it null when there are fewer.';
