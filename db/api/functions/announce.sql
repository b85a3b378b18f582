create or replace function api.announce()
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_rows constant int := 1000;
  v_row record;
  v_is_first_write constant boolean := pg_current_xact_id_if_assigned() is null;
  v_last_id bigint;
  v_done trading.announcer;
  v_all_ended boolean;
  v_sent_id bigint;
  v_count bigint := 0;
  v_payload text;
begin
  -- The lock that notifying takes is held through the commit: spare it the flush.
  set local synchronous_commit = off;

  -- One at a time, so that listeners hear of a market and of a user in the order of the commits.
  perform pg_advisory_xact_lock((29037::bigint << 44) - 1);

  -- Read before this transaction gets its number, and so of transactions with lower ones only:
  -- whoever announces has written before, and with that got a number.
  select q.last_value - (not q.is_called)::int into v_last_id
  from trading.announcements_id_seq as q;
  select a.* into v_done
  from trading.announcer as a;
  v_all_ended := core.all_ended_before(v_done.noted_xid);

  for v_row in
    with sent as (
      delete from trading.announcements as a
      where a.id in (
        select b.id
        from trading.announcements as b
        where b.id > coalesce(v_done.sent_through_id, 0)
        order by b.id
        limit c_most_rows
      )
      returning a.*
    )
    select s.* from sent as s order by s.id
  loop
    -- The id keeps equal notifications of one transaction from arriving as one.
    v_payload := json_build_object('id', v_row.id, 'about', v_row.payload)::text;
    if octet_length(v_payload) > 7900 then
      -- After a crash the ids of announcements, which are not logged, start anew.
      insert into trading.event_payloads as e (id, payload, created_at)
      values (v_row.id, v_row.payload, core.now())
      on conflict (id) do update
      set payload = excluded.payload, created_at = excluded.created_at;
      v_payload := json_build_object('id', v_row.id)::text;
    end if;
    perform pg_notify(v_row.channel, v_payload);
    v_sent_id := v_row.id;
    v_count := v_count + 1;
  end loop;

  if v_done.noted_id is null then
    insert into trading.announcer (sent_through_id, noted_id, noted_xid)
    values (0, 0, pg_current_xact_id());
  elsif v_all_ended and v_last_id > v_done.sent_through_id and v_is_first_write then
    update trading.announcer as a set
      sent_through_id = case
        when v_count < c_most_rows then a.noted_id
        else least(a.noted_id, v_sent_id)
      end,
      noted_id = v_last_id,
      noted_xid = pg_current_xact_id();
  end if;
  return v_count;
end
$$;

comment on function api.announce() is
  'Sends what committed transactions announced, oldest first, at most 1,000 at a time, as '
  'notifications {id, about} on the channel of each; returns how many. What is too long for a '
  'notification is kept in trading.event_payloads, and only its id is sent. Every server process '
  'calls it right after a command, and every 100 ms besides. Locks: an advisory lock of its own, '
  'so that there is one call at a time.';
