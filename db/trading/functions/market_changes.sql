-- A batch of one that met no maker changes one level: no query is needed to say so.
create or replace function trading.market_changes(
  batch trading.matched_batch, orders trading.placed_order[]
)
returns trading.market_change[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_emptied int[] := '{}'; -- requests that cancelled makers
  v_order trading.placed_order;
  v_rests boolean;
begin
  if cardinality(market_changes.orders) = 1 and cardinality(batch.makers) = 0 then
    v_order := market_changes.orders[1];
    v_rests := v_order.end_status in ('open', 'partially_filled');
    if v_order.id is null then
      return null;
    end if;
    return array[
      (
        v_order.market, array[trading.depth_place(v_order.book_side, v_order.book_price)],
        array[case when v_rests then v_order.end_left_quantity else 0 end],
        array[null::bigint], array[null::bigint],
        case when v_rests and v_order.book_side = 'yes' then v_order.book_price end,
        case when v_rests and v_order.book_side = 'no' then v_order.book_price end,
        (v_order.status <> 'scheduled')::int, (not v_order.was_scheduled)::int, -- mutant: single_order_changes
        case when v_order.was_scheduled then 0 else v_order.id end
      )::trading.market_change
    ];
  end if;

  if (batch.result).cancelled_makers is not null then
    v_emptied := array(select c.request from unnest((batch.result).cancelled_makers) as c);
  end if;
  return (
    with touched as (
      -- Each request, with what it brought to the book.
      select
        o.market, o.book_side, o.book_price,
        case when o.id is not null and o.end_status in ('open', 'partially_filled')
          then o.end_left_quantity else 0 end as change,
        null::bigint as position_left,
        null::bigint as position_gone,
        (
          o.id is not null and o.status <> 'scheduled' -- mutant: schedule_raises_version
          or o.code is not null and o.place = any (v_emptied) -- mutant: cleared_book_unannounced
        )::int as changes,
        (o.id is not null and not o.was_scheduled)::int as placed, -- mutant: released_order_counted_again
        case when not o.was_scheduled then o.id end as id
      from unnest(market_changes.orders) with ordinality as o (
        market, market_id, market_public_id, user_id, user_public_id, side, order_type, price,
        book_side, book_price, budget_cents, time_in_force, post_only, expires_at,
        idempotency_key, problem, was_scheduled, release_at, id, public_id, code, replay_of,
        replayed_order_id, status, quantity, left_quantity, cancel_reason, fee_cents,
        balance_cents, end_status, end_left_quantity, end_cancel_reason, request_fingerprint,
          cancels_own, place
      )
      where o.id is not null or o.code is not null and o.place = any (v_emptied)
      union all
      -- Each maker, with what it lost.
      select
        k.market, k.book_side, k.book_price, greatest(k.left_after, 0) - k.left_quantity,
        case when k.left_after > 0 then k.queue_position end,
        case when k.left_after <= 0 then k.queue_position end,
        0, 0, null
      from rows from (unnest(batch.makers), unnest((batch.result).left_quantities)) as k (
        order_id, order_public_id, market, user_id, order_type, book_side, book_price,
        queue_position, left_quantity, has_expired, left_after
      )
      where k.order_id is not null
    ),
    levels as (
      select
        t.market, t.book_side, t.book_price,
        trading.depth_place(t.book_side, t.book_price) as place,
        sum(t.change) as change,
        min(t.position_left) as first_left,
        max(t.position_gone) as last_gone,
        sum(t.changes) as changes,
        sum(t.placed) as placed,
        sum(t.id) as id_sum
      from touched as t
      group by t.market, t.book_side, t.book_price
    )
    select array_agg(m.change)
    from (
      select
        (
          l.market, array_agg(l.place), array_agg(l.change), array_agg(l.first_left),
          array_agg(l.last_gone),
          max(l.book_price) filter (where l.book_side = 'yes' and l.change > 0),
          max(l.book_price) filter (where l.book_side = 'no' and l.change > 0),
          sum(l.changes), sum(l.placed), coalesce(sum(l.id_sum), 0)
        )::trading.market_change as change
      from levels as l
      group by l.market
      having sum(l.changes) > 0 or sum(l.placed) > 0 -- mutant: scheduled_order_not_counted
    ) as m
  );
end
$$;

comment on function trading.market_changes(trading.matched_batch, trading.placed_order[]) is
  'What a batch changes of the books and counts of its markets, one element for each that changes.';
