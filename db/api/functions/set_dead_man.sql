create or replace function api.set_dead_man(
  user_id uuid,
  timeout_ms int,
  idempotency_key uuid default null,
  request_fingerprint uuid default null,
  out code text,
  out message text,
  out replayed boolean,
  out body text,
  out fired_at text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  c_told_for constant interval := interval '24 hours';
  v_user_id constant bigint := (
    select t.user_id from trading.traders as t where t.public_id = set_dead_man.user_id
  );
  v_kept core.result;
  v_switch trading.dead_man_switches;
  v_at timestamptz;
  v_expires_at timestamptz;
  v_last_stopped_id bigint;
  v_is_locked boolean; -- the user is
begin
  replayed := false;
  if v_user_id is null then
    code := 'UNAUTHORIZED';
  elsif set_dead_man.timeout_ms is null
    or (set_dead_man.timeout_ms <> 0 and set_dead_man.timeout_ms not between 1000 and 300000)
  then
    code := 'INVALID_REQUEST';
    message := 'timeoutMs: must be 0, or from 1000 to 300000';
  end if;
  if code is not null then
    return;
  end if;
  if set_dead_man.idempotency_key is not null then
    perform trading.lock_traders(array[v_user_id]);
    v_kept := trading.find_reply(
      v_user_id, set_dead_man.idempotency_key, set_dead_man.request_fingerprint
    );
    if v_kept.replayed is not null then
      code := v_kept.code;
      replayed := v_kept.replayed;
      body := v_kept.body;
      fired_at := (
        select core.iso8601(s.last_fired_at)
        from trading.dead_man_switches as s
        where s.user_id = v_user_id
          and s.last_fired_at > core.now() - c_told_for
      );
      return;
    end if;
  end if;

  -- Orders that came in time may still be under way. A switch in force is renewed beside them.
  v_is_locked := set_dead_man.idempotency_key is not null;
  if not v_is_locked and exists (
    select
    from trading.dead_man_switches as s
    where s.user_id = v_user_id
      and s.expires_at <= core.now()
  ) then
    perform trading.lock_traders(array[v_user_id]);
    v_is_locked := true;
  end if;
  insert into trading.dead_man_switches (user_id)
  values (v_user_id)
  on conflict on constraint dead_man_switches_pkey do nothing;
  select s.* into strict v_switch
  from trading.dead_man_switches as s
  where s.user_id = v_user_id
  for update;
  v_at := core.now();

  -- Renewed in time, or fired: the clock decides under the lock, and not who comes first.
  v_last_stopped_id := trading.last_stopped_order(v_switch, v_at, grace => '0');
  if v_last_stopped_id is not null and (
    not v_is_locked
    or exists (select from trading.active_orders_until(v_user_id, v_last_stopped_id, null, 1))
  ) then
    code := 'DEAD_MAN_FIRED';
    return;
  end if;
  v_expires_at := case
    when set_dead_man.timeout_ms > 0
      then v_at + set_dead_man.timeout_ms * interval '1 millisecond'
  end;
  if v_last_stopped_id is not null then
    v_switch.last_fired_at := v_switch.expires_at;
  end if;
  update trading.dead_man_switches as s set
    expires_at = v_expires_at,
    fired_at = null,
    last_order_id = null,
    last_fired_at = v_switch.last_fired_at
  where s.user_id = v_user_id;
  if v_switch.last_fired_at > v_at - c_told_for then
    fired_at := core.iso8601(v_switch.last_fired_at);
  end if;

  body := json_build_object('expiresAt', core.iso8601(v_expires_at))::text;
  if set_dead_man.idempotency_key is not null then
    perform trading.keep_reply(
      v_user_id, set_dead_man.idempotency_key, set_dead_man.request_fingerprint, body
    );
  end if;
end
$$;

comment on function api.set_dead_man(uuid, int, uuid, uuid) is
  'Sets or renews the dead man''s switch of a user: unless it is called again within timeout_ms '
  '(1000-300000), all open orders of the user are cancelled; 0 turns it off. fired_at: when it '
  'expired last, if that was within 24 hours. A switch that has expired cannot be renewed before '
  'the orders of that time are cancelled: DEAD_MAN_FIRED, and nothing changes. Rejections: '
  'UNAUTHORIZED, INVALID_REQUEST, IDEMPOTENCY_KEY_REUSED, DEAD_MAN_FIRED. Locks: the user, with a '
  'key or if the switch has expired; then the switch.';
