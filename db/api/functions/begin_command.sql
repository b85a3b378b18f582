create or replace function api.begin_command(
  user_id uuid, idempotency_key uuid, request_fingerprint uuid
)
returns core.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = begin_command.user_id
  );
  v_kept core.result;
begin
  v_kept := trading.find_reply(
    v_user_id, begin_command.idempotency_key, begin_command.request_fingerprint
  );
  if v_kept.replayed is null then
    perform trading.lock_traders(array[v_user_id]);
    v_kept := trading.find_reply(
      v_user_id, begin_command.idempotency_key, begin_command.request_fingerprint
    );
  end if;
  if v_kept.replayed is not null then
    return v_kept;
  end if;
  perform trading.keep_reply(
    v_user_id, begin_command.idempotency_key, begin_command.request_fingerprint, null
  );
  return (null, null, false, null)::core.result;
end
$$;

comment on function api.begin_command(uuid, uuid, uuid) is
  'Says what the idempotency key of a command of several transactions stands for: its first '
  'answer (replayed), IDEMPOTENCY_KEY_REUSED, or nothing: then the key is this command''s from '
  'now on, and the command is to be carried out and ended by api.end_command. A repetition may do '
  'that, too: each part has a key of its own. Locks: the user.';
