create or replace function api.get_announcement(id bigint)
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select p.payload from trading.event_payloads as p where p.id = get_announcement.id
$$;

comment on function api.get_announcement(bigint) is
  'What a notification is about that was too long to say it and carries only this id; null when '
  'it is not kept any more.';
