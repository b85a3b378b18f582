create or replace function api.get_leaderboard_summary(category text, "window" text)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  v_category_id constant bigint := leaderboard.category_id(get_leaderboard_summary.category);
  v_window_kind constant leaderboard.window_kind :=
    get_leaderboard_summary."window"::leaderboard.window_kind;
  v_state leaderboard.state;
  v_ranked_count bigint;
  v_summary leaderboard.summaries;
  v_median leaderboard.standings;
  v_win leaderboard.wins;
begin
  if v_category_id is null then
    return null;
  end if;
  select x.* into strict v_state
  from leaderboard.state as x;

  if v_state.snapshot_at is not null then
    select coalesce(sum(b.trader_count), 0)::bigint into v_ranked_count
    from leaderboard.bands as b
    where b.category_id = v_category_id
      and b.window_kind = v_window_kind;
    select y.* into v_summary
    from leaderboard.summaries as y
    where y.category_id = v_category_id
      and y.window_kind = v_window_kind;
    v_median := leaderboard.standing_at(v_category_id, v_window_kind, v_ranked_count / 2 + 1);
    v_win := leaderboard.biggest_win(v_category_id, v_window_kind, v_state.day);
  end if;

  return json_build_object(
    'category', get_leaderboard_summary.category,
    'window', get_leaderboard_summary."window",
    'traderCount', case
      when v_state.snapshot_at is null then 0
      else leaderboard.public_trader_count(v_category_id, v_window_kind)
    end,
    'totalVolumeCents', coalesce(v_summary.volume_cents, 0),
    'openInterestCents', coalesce(
      (
        select o.open_interest_cents
        from leaderboard.open_interest as o
        where o.category_id = v_category_id
          and v_state.snapshot_at is not null
      ),
      0
    ),
    'topTrader', (
      select leaderboard.trader_object(u, s.pl_cents)
      from leaderboard.standings as s
      join identity.users as u on u.id = s.user_id
      where s.category_id = v_category_id
        and s.window_kind = v_window_kind
        and not (u.private or u.leaderboard_opt_out)
        and v_state.snapshot_at is not null
      order by s.band desc, s.pl_cents desc, s.vol_cents desc, s.user_public_id
      limit 1
    ),
    'biggestSingleWin', (
      select json_build_object(
        'userId', u.public_id,
        'handle', u.handle,
        'displayName', u.display_name,
        'avatarUrl', u.avatar_url,
        'marketId', m.public_id,
        'marketTitle', m.title,
        'eventId', e.public_id,
        'eventTitle', e.title,
        'plCents', v_win.realised_cents
      )
      from catalog.markets as m
      join identity.users as u on u.id = v_win.user_id
      left join catalog.events as e on e.id = m.event_id
      where m.id = v_win.market_id
    ),
    'medianTrader', case when v_median.user_id is not null then json_build_object(
      'plCents', v_median.pl_cents,
      'winRate', case when v_summary.settled_trader_count > 0 then
        leaderboard.share(v_median.win_count, v_median.settled_count)
      end,
      'settledCount', v_median.settled_count
    ) end,
    'snapshotAt', core.iso8601(v_state.snapshot_at)
  );
end
$$;

comment on function api.get_leaderboard_summary(text, text) is
  'The body of GET /leaderboard/summary, as of the last refresh, with the profiles as they are '
  'now; or null for an unknown category. Costs the same however many traders are ranked.';
