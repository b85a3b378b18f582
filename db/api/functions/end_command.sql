create or replace function api.end_command(
  user_id uuid, idempotency_key uuid, request_fingerprint uuid, reply text
)
returns core.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = end_command.user_id
  );
  v_kept core.result;
begin
  perform trading.lock_traders(array[v_user_id]);
  v_kept := trading.find_reply(
    v_user_id, end_command.idempotency_key, end_command.request_fingerprint
  );
  if v_kept.replayed is not null then
    return v_kept;
  end if;
  perform trading.keep_reply(
    v_user_id, end_command.idempotency_key, end_command.request_fingerprint, end_command.reply
  );
  return (null, null, false, end_command.reply)::core.result;
end
$$;

comment on function api.end_command(uuid, uuid, uuid, text) is
  'Keeps the answer of a command that api.begin_command began, and returns it; or the answer that '
  'another server kept first (replayed). Locks: the user.';
