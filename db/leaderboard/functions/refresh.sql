-- The planner settings make every join a look-up by key, whatever the planner expects of changes
-- that it can't count: it would rather read all standings.
create or replace function leaderboard.refresh(
  most int default 100000, waits boolean default true, pause interval default '0'
)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set work_mem = '64MB'
as $$
declare
  v_window leaderboard.window_kind;
  v_is_first_write constant boolean := pg_current_xact_id_if_assigned() is null;
  v_trade_id bigint;
  v_conversion_id bigint;
  v_resolution_id bigint;
  v_state leaderboard.state;
  v_facts record;
  v_all_ended boolean;
  v_at timestamptz;
  v_day date;
begin
  perform core.check_session();
  -- Read before this transaction gets its number, so all these ids are of lower-numbered ones: a
  -- transaction that takes an id has locked rows before, which gave it its number.
  select q.last_value - (not q.is_called)::int into v_trade_id
  from ledger.journal_ids as q;
  select q.last_value - (not q.is_called)::int into v_conversion_id
  from trading.set_conversions_id_seq as q;
  select q.last_value - (not q.is_called)::int into v_resolution_id
  from trading.resolutions_id_seq as q;

  if refresh.waits then
    select s.* into strict v_state
    from leaderboard.state as s
    for update;
  else
    select s.* into v_state
    from leaderboard.state as s
    for update skip locked;
    if not found then
      return null;
    end if;
  end if;

  -- Seen by an earlier snapshot than the facts: what had ended here can be seen there.
  v_all_ended := core.all_ended_before(v_state.noted_xid);

  v_facts := leaderboard.take_facts(v_state, refresh.most);
  v_at := core.now();
  v_day := greatest(v_state.day, (v_at at time zone 'UTC')::date);

  perform leaderboard.replace_wins(v_facts.resolution_ids, v_facts.voided_market_ids);
  foreach v_window in array enum_range(null::leaderboard.window_kind) loop
    perform pg_sleep_for(refresh.pause);
    perform leaderboard.move_standings(v_window, v_facts.changes, v_state.day, v_day);
  end loop;
  perform pg_sleep_for(refresh.pause);
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
  if v_is_first_write and (v_state.noted_xid is null or v_all_ended and v_facts.is_current) then
    update leaderboard.state as s set
      noted_trade_id = v_trade_id,
      noted_conversion_id = v_conversion_id,
      noted_resolution_id = v_resolution_id,
      noted_xid = pg_current_xact_id();
  end if;
  return v_facts.is_current;
end
$$;

comment on function leaderboard.refresh(int, boolean, interval) is
  'Brings the leaderboard up to date by what changed since the last time, about so many facts of '
  'each kind at most. Returns whether nothing was left; only then snapshot_at moves. Null if waits '
  'is false and another refresh is running. Pauses so long between its parts, to leave processor '
  'and disk to trading. Readers see all of it or nothing, once it is committed. Locks: the row of '
  'leaderboard.state; nothing that trading waits for.';
