-- Rows are looked up by a range of one id, in order, which the primary key alone gives: on an empty
-- table the planner may choose an index whose first column is another, and keep to it.
create or replace function api.follow_events(after_id bigint default null, most int default 1000)
returns table (id bigint, "position" bigint, kind text, payload json, user_ids uuid[])
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
declare
  v_relay trading.outbox_relay;
begin
  select a.* into strict v_relay
  from trading.outbox_relay as a
  where a.singleton;
  if v_relay.last_event_id = follow_events.after_id then
    return;
  end if;
  if follow_events.after_id between v_relay.removed_through_id and v_relay.last_event_id then
    return query
    select
      x.id, e.position, e.kind, x.payload,
      case when x.is_first and (e.user_ids is not null or e.trade_ids is not null) then array(
        select u.public_id
        from (
          select x.id from unnest(e.user_ids) as x (id)
          union
          select r.user_id
          from unnest(e.trade_ids) as i (id)
          cross join lateral (
            select y.taker_user_id, y.maker_user_id
            from trading.trades as y
            where y.id between i.id and i.id
            order by y.id
            limit 1
          ) as t
          cross join lateral (values (t.taker_user_id), (t.maker_user_id)) as r (user_id)
        ) as s
        cross join lateral (
          select z.public_id from trading.traders as z where z.user_id = s.id limit 1
        ) as u
      ) end
    from (
      select
        y.*,
        case json_typeof(y.payload) when 'array' then y.id - trading.ids_of_event(y.payload) end
          as id_before
      from trading.sent_events as y
      where y.id > follow_events.after_id
      order by y.id
      limit follow_events.most
    ) as e
    -- A row of several markets has an id for each, and its own is the last.
    cross join lateral (
      select e.id, e.payload, true as is_first
      where e.id_before is null
      union all
      select e.id_before + a.place, a.payload, a.place = 1
      from json_array_elements(case when e.id_before is not null then e.payload end)
        with ordinality as a (payload, place)
    ) as x
    where x.id > follow_events.after_id
    order by x.id
    limit follow_events.most;
  else
    return query
    select v_relay.last_event_id, v_relay.last_position, null::text, null::json, null::uuid[];
  end if;
end
$$;

comment on function api.follow_events(bigint, int) is
  'The events after an id, oldest first, at most so many; no row if there are none. user_ids are '
  'those for whose streams the event has frames, apart from the user of a user_event; of markets '
  'that one transaction changed, the first has them. If the event right after that id is not kept '
  'any more, if no event has that id yet, or without an id: one row without kind and payload, '
  'whose id is where to continue; events may be missing before it.';
