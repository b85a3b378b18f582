create or replace function leaderboard.refresh(most int default 100000)
returns boolean
language plpgsql
set search_path = ''
set plan_cache_mode = force_custom_plan
set jit = off
set work_mem = '64MB'
as $$
declare
  v_state leaderboard.state;
  v_facts leaderboard.taken_facts;
  v_all_ended boolean;
  v_at timestamptz;
  v_day date;
begin
  select s.* into strict v_state
  from leaderboard.state as s
  for update;

  -- Seen by an earlier snapshot than the facts: what had ended here can be seen there. A note
  -- from beyond the present belongs to the cluster that this database was restored from.
  select
    v_state.noted_xmax <= pg_snapshot_xmin(s.now) or v_state.noted_xmax > pg_snapshot_xmax(s.now)
  into v_all_ended
  from pg_current_snapshot() as s (now);

  v_facts := leaderboard.take_facts(v_state, refresh.most);
  v_at := core.now();
  v_day := greatest(v_state.day, (v_at at time zone 'UTC')::date);

  perform leaderboard.replace_wins(v_facts.resolution_ids);
  perform leaderboard.move_standings(v_facts.changes, v_state.day, v_day);
  perform leaderboard.add_to_days(v_facts.changes);
  perform leaderboard.take_profile_changes();

  update leaderboard.state as s set
    day = v_day,
    snapshot_at = case when v_facts.is_current then v_at else s.snapshot_at end;
  if v_all_ended then
    update leaderboard.state as s set
      after_trade_id = least(s.noted_trade_id, v_facts.through_trade_id),
      after_conversion_id = least(s.noted_conversion_id, v_facts.through_conversion_id),
      after_resolution_id = least(s.noted_resolution_id, v_facts.through_resolution_id);
  end if;
  if v_state.noted_xmax is null or v_all_ended and v_facts.is_current then
    perform leaderboard.note_ids();
  end if;
  return v_facts.is_current;
end
$$;

comment on function leaderboard.refresh(int) is
  'Brings the leaderboard up to date by what changed since the last time, about so many facts of '
  'each kind at most. Returns whether nothing was left; only then snapshot_at moves. Readers see '
  'all of it or nothing, once it is committed. Locks: the row of leaderboard.state; nothing that '
  'trading waits for.';
