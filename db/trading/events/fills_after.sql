-- A user's trades get their ids under the lock on the user, so in the order of their ids they also
-- have rising positions. Trades of others lie between them in another order: where to begin is
-- found from any trade of about that time, by going back over the user's own.
create or replace function trading.fills_after(
  user_id bigint,
  after_position bigint,
  through_position bigint,
  most int
)
returns table ("position" bigint, trade_id bigint)
language plpgsql stable
as $$
declare
  c_most_at_once constant int := 1000;
  v_first_at timestamptz;
  v_from_id bigint;
  v_back_id bigint;
  v_is_before boolean;
  v_ids bigint[];
  v_at_once int;
  v_left int := fills_after.most;
  v_here int;
  v_positions bigint[];
  v_trade_ids bigint[];
  v_last_position bigint;
begin
  -- The first trade of this event that is behind the position, or its last.
  select e.trade_ids[
    least(
      greatest(1, fills_after.after_position - e.position + cardinality(e.trade_ids) + 2),
      cardinality(e.trade_ids)
    )
  ] into v_from_id
  from trading.sent_events as e
  where e.position > fills_after.after_position
    and e.trade_ids is not null
  order by e.position
  limit 1;
  if not found then
    return;
  end if;
  select e.traded_at into v_first_at
  from trading.sent_events as e
  where e.trade_ids is not null
  order by e.traded_at
  limit 1;

  -- Event by event: from a trade to the first of its event.
  v_back_id := v_from_id;
  v_at_once := 1;
  loop
    v_ids := array(
      select i.id
      from trading.own_trade_ids(fills_after.user_id, v_back_id - 1, false, v_at_once) as i (id)
    );
    select
      least(
        v_from_id,
        min(p.first_trade_id) filter (where p.position > fills_after.after_position)
      ),
      coalesce(bool_or(p.position <= fills_after.after_position), false)
    into v_from_id, v_is_before
    from trading.positions_of_trades(v_ids) as p;
    exit when v_is_before
      or cardinality(v_ids) < v_at_once
      or (
        select t.created_at
        from trading.trades as t
        where t.id between v_ids[v_at_once] and v_ids[v_at_once]
        order by t.id
        limit 1
      ) < v_first_at;
    v_back_id := least(v_from_id, v_ids[v_at_once]);
    v_at_once := least(v_at_once * 5, c_most_at_once);
  end loop;

  -- Few at first: the next fill may be far behind what is asked for.
  v_at_once := 10;
  loop
    v_at_once := least(v_at_once, fills_after.most);
    v_ids := array(
      select i.id
      from trading.own_trade_ids(fills_after.user_id, v_from_id, true, v_at_once) as i (id)
    );
    select
      array_agg(p.position order by p.trade_id),
      array_agg(p.trade_id order by p.trade_id),
      max(p.position) filter (where p.trade_id = v_ids[v_at_once])
    into v_positions, v_trade_ids, v_last_position
    from trading.positions_of_trades(v_ids) as p;
    return query
    select f.position, f.trade_id
    from unnest(v_positions, v_trade_ids) as f (position, trade_id)
    where f.position > fills_after.after_position
      and f.position <= fills_after.through_position
    order by f.trade_id
    limit v_left;
    get diagnostics v_here = row_count;
    v_left := v_left - v_here;
    -- The last one is missing if there is no other, or if it is not sent yet.
    exit when v_left = 0
      or v_last_position is null
      or v_last_position >= fills_after.through_position;
    v_from_id := v_ids[v_at_once] + 1;
    v_at_once := v_at_once * 5;
  end loop;
end
$$;

comment on function trading.fills_after(bigint, bigint, bigint, int) is
  'The trades of a user behind a position of the user streams and through another, oldest first, '
  'at most so many, with the positions of their frames. Trades that are not sent yet are left out.';
