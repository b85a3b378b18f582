-- What has an order is read by the index that gives it, as if there were much to sort.
create or replace function api.read_user_events(
  user_ids uuid[],
  positions bigint[],
  with_fills boolean[],
  with_settlements boolean[],
  with_markets boolean[],
  most int
)
returns table (stream int, "position" bigint, event json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
set enable_sort = off
as $$
declare
  v_last_position constant bigint := (
    select r.last_position from trading.outbox_relay as r where r.singleton
  );
  v_user_id bigint;
  v_count int;
begin
  for i in 1 .. cardinality(read_user_events.user_ids) loop
    if trading.position_sent_at(read_user_events.positions[i]) is null then
      return query select i, null::bigint, null::json;
      continue;
    end if;
    select t.user_id into strict v_user_id
    from trading.traders as t
    where t.public_id = read_user_events.user_ids[i];
    return query
    select i, e.position, e.event
    from trading.user_events_after(
      v_user_id, read_user_events.positions[i], read_user_events.with_fills[i],
      read_user_events.with_settlements[i], read_user_events.with_markets[i],
      read_user_events.most
    ) as e
    order by e.position;
    get diagnostics v_count = row_count;
    if v_count < read_user_events.most then
      return query select i, v_last_position, null::json;
    end if;
  end loop;
end
$$;

comment on function api.read_user_events(
  uuid[], bigint[], boolean[], boolean[], boolean[], int
) is
  'What streams of users get behind their positions: for each stream, counted from 1, at most so '
  'many events, oldest first, and then, if there are no more, a row without an event whose '
  'position is the last one of all. A row with neither: the position is not known, or its event is '
  'not kept any more.';
