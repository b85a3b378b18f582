-- A user's trades get their ids under the lock on the user, so in the order of their ids they also
-- have rising positions. Trades of others lie between them in another order: where to begin is
-- found from any trade of about that time, by going back over the user's own.
create or replace function trading.fills_after(user_id bigint, after_position bigint, most int)
returns table ("position" bigint, trade_id bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first_at timestamptz;
  v_from_id bigint;
  v_trade record;
  v_ids bigint[];
  v_found int := 0;
  v_here int;
begin
  select e.trade_ids[1] into v_from_id
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

  loop
    select t.id, t.created_at into v_trade
    from trading.own_trade_ids(fills_after.user_id, v_from_id - 1, false, 1) as i (id)
    cross join lateral (select x.* from trading.trades as x where x.id = i.id limit 1) as t;
    exit when not found
      or v_trade.created_at < v_first_at
      or trading.position_of_trade(v_trade.id, v_trade.created_at) <= fills_after.after_position; -- mutant: fills_skipped
    v_from_id := v_trade.id;
  end loop;

  while v_found < fills_after.most loop
    v_ids := array(
      select i.id
      from trading.own_trade_ids(fills_after.user_id, v_from_id, true, fills_after.most) as i (id)
    );
    return query
    select p.position, t.id
    from unnest(v_ids) as i (id)
    cross join lateral (select x.* from trading.trades as x where x.id = i.id limit 1) as t
    cross join lateral (
      select trading.position_of_trade(t.id, t.created_at) as position
    ) as p
    where p.position > fills_after.after_position -- mutant: fills_twice
    order by t.id
    limit fills_after.most - v_found;
    get diagnostics v_here = row_count;
    v_found := v_found + v_here;
    exit when cardinality(v_ids) < fills_after.most;
    v_from_id := v_ids[fills_after.most] + 1;
  end loop;
end
$$;

comment on function trading.fills_after(bigint, bigint, int) is
  'The trades of a user behind a position of the user streams, oldest first, at most so many, with '
  'the positions of their frames. Trades that are not sent yet are left out.';
