create or replace function api.find_user_position(last_event_id bigint default null)
returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  c_kept constant interval := interval '24 hours';
begin
  if find_user_position.last_event_id is null then
    return (select r.last_position from trading.outbox_relay as r where r.singleton);
  end if;
  if trading.position_sent_at(find_user_position.last_event_id) >= core.now() - c_kept then
    return find_user_position.last_event_id;
  end if;
  return null;
end
$$;

comment on function api.find_user_position(bigint) is
  'Where a user stream begins: at the present position or, given the id of the last frame that its '
  'client has, there. Null when that is older than 24 hours, or was never given out.';
