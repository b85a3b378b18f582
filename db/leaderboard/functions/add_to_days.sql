create or replace function leaderboard.add_to_days(changes leaderboard.change[])
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  -- Of what was voided no day is left.
  delete from leaderboard.days as d
  using unnest(add_to_days.changes) as c
  where d.day = c.day
    and d.category_id = c.category_id
    and d.user_id = c.user_id
    and d.realised_count + c.realised_count = 0;

  insert into leaderboard.days (
    day, category_id, user_id, pl_cents, vol_cents, win_count, settled_count, realised_count
  )
  select
    c.day, c.category_id, c.user_id,
    c.pl_cents + coalesce(d.pl_cents, 0),
    c.vol_cents + coalesce(d.vol_cents, 0),
    c.win_count + coalesce(d.win_count, 0),
    c.settled_count + coalesce(d.settled_count, 0),
    c.realised_count + coalesce(d.realised_count, 0)
  from unnest(add_to_days.changes) as c
  left join leaderboard.days as d
    on d.day = c.day
    and d.category_id = c.category_id
    and d.user_id = c.user_id
  where c.realised_count + coalesce(d.realised_count, 0) > 0
  on conflict (day, category_id, user_id) do update set
    pl_cents = excluded.pl_cents,
    vol_cents = excluded.vol_cents,
    win_count = excluded.win_count,
    settled_count = excluded.settled_count,
    realised_count = excluded.realised_count
$$;

comment on function leaderboard.add_to_days(leaderboard.change[]) is
  'Adds changes to the totals of their days. The caller holds the row of leaderboard.state.';
