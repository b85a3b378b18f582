create or replace function trading.end_orders(
  order_ids bigint[],
  reason trading.cancel_reason,
  at timestamptz,
  announced boolean default true,
  raises_version boolean default true
)
returns int
language plpgsql
as $$
declare
  c_expired_by constant timestamptz := case
    when end_orders.reason is distinct from 'market_closed' then end_orders.at
  end;
  v_gone record; -- of a market
  v_announced_ids bigint[];
  v_count int := 0;
begin
  for v_gone in
    with gone as (
      delete from trading.active_orders as b
      where b.order_id = any (end_orders.order_ids)
        and (
          end_orders.reason is not null
          or b.expires_at <= c_expired_by
          or exists (select from trading.stop_of(b.user_id, b.order_id, end_orders.at))
        )
      returning
        b.*,
        case
          when b.expires_at <= c_expired_by then 'expired'
          else (select s.reason from trading.stop_of(b.user_id, b.order_id, end_orders.at) as s)
        end as own_reason
    ),
    ended as (
      insert into trading.ended_orders (
        market_id, user_id, id, public_id, created_at, ended_at, quantity, filled_quantity,
        fee_cents, price, side, order_type, time_in_force, status, post_only, cancel_reason,
        budget_cents, expires_at, release_at, released_at
      )
      select
        g.market_id, g.user_id, g.order_id, g.order_public_id, g.created_at, end_orders.at,
        g.quantity, g.quantity - g.left_quantity, g.fee_cents, g.price, g.side, g.order_type,
        g.time_in_force, 'cancelled', g.post_only, coalesce(g.own_reason, end_orders.reason),
        g.budget_cents, g.expires_at, g.release_at, g.released_at
      from gone as g
    )
    select
      g.market_id,
      array_agg(trading.depth_place(g.book_side, g.book_price))
        filter (where g.queue_position is not null) as places,
      array_agg(-g.left_quantity::bigint) filter (where g.queue_position is not null) as changes,
      array_agg(g.order_id order by g.order_id)
        filter (where end_orders.announced or g.own_reason is not null) as announced_ids,
      count(*) filter (
        where g.own_reason is null
          or end_orders.reason is null and g.own_reason <> 'expired'
      ) as count
    from gone as g
    group by g.market_id
    order by g.market_id
  loop
    if v_gone.places is not null then
      perform trading.write_depth(
        v_gone.market_id, v_gone.places, v_gone.changes, end_orders.raises_version
      );
    end if;
    v_announced_ids := v_announced_ids || v_gone.announced_ids;
    v_count := v_count + v_gone.count;
  end loop;
  if v_announced_ids is not null then
    perform trading.announce_cancelled(v_announced_ids);
  end if;
  return v_count;
end
$$;

comment on function trading.end_orders(
  bigint[], trading.cancel_reason, timestamptz, boolean, boolean
) is
  'Takes active orders of any markets off their books, or out of their delay, for a reason; '
  'returns how many. Those past their expiry expire instead, unless they end with their market '
  '(market_closed), and those that are stopped end for the reason of that (trading.stop_of); they '
  'are not counted. Without a reason only these end, and the stopped ones are counted. announced: '
  'with order_cancelled events for the owners, who did not ask for it; these always have one. '
  'raises_version: of each market whose book changes, by one, however many orders leave it, with a '
  'market_changed event. The caller holds the locks of the markets.';
