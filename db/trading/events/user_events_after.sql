create or replace function trading.user_events_after(
  user_id bigint,
  after_position bigint,
  with_fills boolean,
  with_settlements boolean,
  with_markets boolean,
  most int
)
returns table ("position" bigint, event json)
language plpgsql stable
as $$
declare
  -- The user is given as a range: for an equality, a plan made without events may read those of all
  -- users by their positions.
  v_own_positions constant bigint[] := array(
    select e.position
    from trading.sent_events as e
    where (e.user_id, e.position) > (user_events_after.user_id, user_events_after.after_position)
      and e.user_id <= user_events_after.user_id
    order by e.user_id, e.position
    limit user_events_after.most
  );
  -- Behind so many events of the user nothing is looked for: it is not shown.
  v_through bigint := coalesce(v_own_positions[user_events_after.most], 9223372036854775807);
  v_positions bigint[];
  v_trade_ids bigint[];
begin
  if user_events_after.with_fills then
    select array_agg(f.position order by f.trade_id), array_agg(f.trade_id order by f.trade_id)
    into v_positions, v_trade_ids
    from trading.fills_after(
      user_events_after.user_id, user_events_after.after_position, v_through,
      user_events_after.most
    ) as f;
  end if;
  -- Nor behind so many events and fills together.
  if v_positions is not null then
    v_through := coalesce(
      (
        select p.position
        from unnest(v_own_positions || v_positions) as p (position)
        order by p.position
        offset user_events_after.most - 1
        limit 1
      ),
      v_through
    );
    v_trade_ids := v_trade_ids[:width_bucket(v_through, v_positions)];
  end if;
  return query
  select s.position, s.event
  from (
    (
      select e.position, e.payload -> 'event' as event
      from trading.sent_events as e
      where (e.user_id, e.position)
          > (user_events_after.user_id, user_events_after.after_position)
        and (e.user_id, e.position) <= (user_events_after.user_id, v_through)
        and e.user_id is not null
      order by e.user_id, e.position
      limit user_events_after.most
    )
    union all
    select v_positions[array_position(v_trade_ids, f.trade_id)], f.event
    from trading.fill_events(v_trade_ids, user_events_after.user_id) as f
    union all
    (
      select e.position, trading.event_of_many(e, user_events_after.user_id)
      from trading.sent_events as e
      where (user_events_after.with_settlements or user_events_after.with_markets)
        and e.user_ids is not null
        and e.position > user_events_after.after_position
        and e.position <= v_through
        and e.user_ids[1] <= user_events_after.user_id
        and e.user_ids[cardinality(e.user_ids)] >= user_events_after.user_id
        and user_events_after.user_id = any (e.user_ids)
        and case e.kind
          when 'market_settled' then user_events_after.with_settlements
          when 'market_status' then user_events_after.with_markets
          else false
        end
      order by e.position
      limit user_events_after.most
    )
  ) as s
  order by s.position
  limit user_events_after.most;
end
$$;

comment on function trading.user_events_after(bigint, bigint, boolean, boolean, boolean, int) is
  'What the stream of a user gets behind a position, oldest first, at most so many: the events of '
  'the user and, if asked for, fills, settlements and new statuses of markets. The same on every '
  'call, whenever and by whichever server it is made.';
