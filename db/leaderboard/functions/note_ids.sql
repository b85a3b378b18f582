create or replace function leaderboard.note_ids()
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_trade_id bigint;
  v_conversion_id bigint;
  v_resolution_id bigint;
begin
  -- With a snapshot from before the ids were read, xmax would not cover those who took them.
  if current_setting('transaction_isolation') <> 'read committed' then
    return;
  end if;

  select q.last_value - (not q.is_called)::int into v_trade_id
  from trading.trades_id_seq as q;
  select q.last_value - (not q.is_called)::int into v_conversion_id
  from trading.set_conversions_id_seq as q;
  select q.last_value - (not q.is_called)::int into v_resolution_id
  from trading.resolutions_id_seq as q;

  update leaderboard.state as s set
    noted_trade_id = v_trade_id,
    noted_conversion_id = v_conversion_id,
    noted_resolution_id = v_resolution_id,
    noted_xmax = pg_snapshot_xmax(pg_current_snapshot());
end
$$;

comment on function leaderboard.note_ids() is
  'Notes the last ids given out, and the transactions that may still be writing rows with them: '
  'whoever takes such an id has locked rows before, and so has a transaction number. The caller '
  'holds the row of leaderboard.state.';
