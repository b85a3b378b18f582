create or replace function identity.end_sessions(session_ids bigint[])
returns bigint
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with ended as (
    delete from identity.sessions as s
    where s.id = any (end_sessions.session_ids)
    returning s.public_id
  ),
  events as (
    insert into trading.outbox (channel, payload)
    select 'session_ended', json_build_object('sessionId', e.public_id)
    from ended as e
    returning id
  )
  select count(*) from events
$$;

comment on function identity.end_sessions(bigint[]) is
  'Ends sessions and their tokens, and writes a session_ended event for the servers. Returns how '
  'many there were. Locks: their rows.';
