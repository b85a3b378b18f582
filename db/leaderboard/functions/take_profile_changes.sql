create or replace function leaderboard.take_profile_changes()
returns void
language plpgsql
as $$
declare
  v_user_ids bigint[];
begin
  with taken as (
    delete from leaderboard.profile_changes
    returning user_id
  )
  select array_agg(distinct t.user_id) into v_user_ids
  from taken as t;
  if v_user_ids is null then
    return;
  end if;

  with changed as (
    update leaderboard.standings as s
    set is_public = not s.is_public
    from identity.users as u
    where u.id = any (v_user_ids)
      and s.user_id = u.id
      and s.is_public = (u.private or u.leaderboard_opt_out)
    returning s.category_id, s.window_kind, s.settled_count, s.is_public
  )
  update leaderboard.summaries as y
  set public_trader_count = y.public_trader_count + x.more
  from (
    select
      c.category_id,
      c.window_kind,
      sum(case when c.is_public then 1 else -1 end) as more
    from changed as c
    where c.settled_count > 0
    group by c.category_id, c.window_kind
  ) as x
  where y.category_id = x.category_id
    and y.window_kind = x.window_kind;
end
$$;

comment on function leaderboard.take_profile_changes() is
  'Counts users whose profile changed as public or private, as they are now. The caller holds the '
  'row of leaderboard.state.';
