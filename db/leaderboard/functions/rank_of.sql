create or replace function leaderboard.rank_of(standing leaderboard.standings)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 1 + (
    select coalesce(sum(b.trader_count), 0)::bigint
    from leaderboard.bands as b
    where b.category_id = (rank_of.standing).category_id
      and b.window_kind = (rank_of.standing).window_kind
      and b.band > (rank_of.standing).band
  ) + (
    select count(*)
    from leaderboard.standings as s
    where s.category_id = (rank_of.standing).category_id
      and s.window_kind = (rank_of.standing).window_kind
      and s.band = (rank_of.standing).band
      and s.pl_cents >= (rank_of.standing).pl_cents
      and (
        s.pl_cents > (rank_of.standing).pl_cents
        or s.vol_cents > (rank_of.standing).vol_cents
        or s.vol_cents = (rank_of.standing).vol_cents
          and s.user_public_id < (rank_of.standing).user_public_id
      )
  )
$$;

comment on function leaderboard.rank_of(leaderboard.standings) is
  'The rank of a standing in its window, 1 for the best: by profit, then by volume, then by the '
  'id of the user.';
