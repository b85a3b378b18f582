create or replace function api.get_dead_man(user_id uuid)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object('expiresAt', core.iso8601((
    select s.expires_at
    from trading.traders as t
    join trading.dead_man_switches as s on s.user_id = t.user_id
    where t.public_id = get_dead_man.user_id
  )))
$$;

comment on function api.get_dead_man(uuid) is
  'The body of GET /orders/dead-man: when the switch of a user fires, null while it is off. A time '
  'in the past: it has fired, and orders are being cancelled.';
