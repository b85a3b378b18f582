create or replace function leaderboard.replace_wins(
  resolution_ids bigint[], voided_market_ids bigint[]
)
returns void
language plpgsql
as $$
begin
  delete from leaderboard.wins as w
  using trading.resolutions as r
  where r.id = any (replace_wins.resolution_ids)
    and r.corrects_resolution_id is not null
    and w.market_id = r.market_id;
  delete from leaderboard.wins as w
  where w.market_id = any (replace_wins.voided_market_ids);

  insert into leaderboard.wins (market_id, category_id, user_id, side, day, realised_cents)
  select
    r.market_id, c.category_id, s.user_id, s.side,
    (f.created_at at time zone 'UTC')::date, s.realised_cents
  from trading.resolutions as r
  join catalog.markets as m on m.id = r.market_id
  join trading.resolutions as f on f.market_id = r.market_id and f.corrects_resolution_id is null
  join trading.settlements as s on s.resolution_id = r.id
  cross join lateral (values (0::bigint), (m.category_id)) as c (category_id)
  where r.id = any (replace_wins.resolution_ids)
    and s.realised_cents > 0
    and not exists (
      select
      from trading.resolutions as l
      where l.corrects_resolution_id = r.id
        and l.id = any (replace_wins.resolution_ids)
    );
end
$$;

comment on function leaderboard.replace_wins(bigint[], bigint[]) is
  'Writes the wins of resolutions, and removes those of the resolutions that they correct and of '
  'voided markets.';
