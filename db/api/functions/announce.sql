create or replace function api.announce()
returns bigint
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  c_most_rows constant int := 1000;
  v_row record;
  v_count bigint := 0;
  v_payload text;
begin
  -- The lock that notifying takes is held through the commit: spare it the flush.
  set local synchronous_commit = off;

  -- One at a time, so that listeners hear of a market and of a user in the order of the commits.
  perform pg_advisory_xact_lock((29037::bigint << 44) - 1);

  for v_row in
    with sent as (
      delete from trading.announcements as a
      where a.id in (
        select b.id from trading.announcements as b order by b.id limit c_most_rows
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
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;

comment on function api.announce() is
  'Sends what committed transactions announced, oldest first, at most 1,000 at a time, as '
  'notifications {id, about} on the channel of each; returns how many. What is too long for a '
  'notification is kept in trading.event_payloads, and only its id is sent. Every server process '
  'calls it right after a command, and every 100 ms besides.';
