-- One pass over what moved each position, in its order, followed by the position as it is:
--
--   a new position begins: all figures are 0
--   it ends: its row is compared with the figures
--   a fill, split, merge or void: the figures move, and what it said that it realised is compared
create or replace function trading.verify_positions()
returns table (name text, object text, expected text, found text)
language plpgsql stable
as $$
declare
  c_end constant bigint := 9223372036854775807;
  v_move record;
  v_market_id bigint;
  v_user_id bigint;
  v_side trading.side;
  v_quantity bigint;
  v_cost bigint;
  v_fees bigint;
  v_realised bigint;
  v_noted bigint;
  v_traded boolean;
  v_is_open boolean := false;
  v_shares bigint;
  v_cost_out bigint;
  v_fees_out bigint;
  v_object text;
begin
  return query
    select 'position has an id', concat_ws(' ', 'market', h.market_id, 'user', h.user_id),
      'an id', 'none'
    from trading.holdings as h
    where h.yes_public_id is null
        and (h.yes_quantity, h.yes_cost_cents, h.yes_fee_cents, h.yes_realised_cents)
          <> (0, 0, 0, 0)
      or h.no_public_id is null
        and (h.no_quantity, h.no_cost_cents, h.no_fee_cents, h.no_realised_cents)
          <> (0, 0, 0, 0);

  -- What moved the shares of each position, in its order, and behind it the position as it is. A
  -- last row of no position ends the last one.
  for v_move in
    select
      f.market_id, o.user_id, o.side, f.trade_id as place,
      case o.order_type when 'buy' then f.quantity else -f.quantity end as quantity,
      f.quantity * case o.side when 'yes' then f.price else 100 - f.price end as cents,
      f.fee_cents, f.realised_cents, true as has_traded, 'trade ' as source, f.trade_id as source_id
    from trading.fill_sides() as f
    join trading.orders as o on o.id = f.order_id
    union all
    select
      c.market_id, c.user_id, l.side, c.journal_id,
      case when c.yes_realised_cents is null then c.quantity else -c.quantity end,
      coalesce(c.cents, 50 * c.quantity::bigint), 0, l.realised_cents, false, 'conversion ', c.id
    from trading.set_conversions as c
    cross join lateral (
      values ('yes'::trading.side, c.yes_realised_cents), ('no', c.no_realised_cents)
    ) as l (side, realised_cents)
    where c.side is null or c.side = l.side
    -- Bought shares leave for what was paid, sold ones come back with what they had cost.
    union all
    select
      f.market_id, o.user_id, o.side, v.journal_id,
      case o.order_type when 'buy' then -f.quantity else f.quantity end,
      case o.order_type when 'buy' then -f.amount_cents else f.amount_cents - f.realised_cents end,
      0, case when f.is_taker then v.taker_realised_cents else v.maker_realised_cents end, true,
      'void ', v.id
    from trading.voids as v
    join trading.fill_sides() as f on f.trade_id = v.trade_id
    join trading.orders as o on o.id = f.order_id
    -- Those of a voided market as they were before.
    union all
    select
      h.market_id, h.user_id, p.side, c_end, p.quantity + coalesce(v.quantity, 0),
      p.cost_cents + coalesce(v.cost_cents, 0), p.fee_cents + coalesce(v.fee_cents, 0),
      p.realised_cents + coalesce(v.realised_cents, 0) - coalesce(e.realised_cents, 0),
      p.has_traded, '', null
    from trading.holdings as h
    cross join lateral (
      values
        (
          'yes'::trading.side, h.yes_public_id, h.yes_quantity, h.yes_cost_cents,
          h.yes_fee_cents, h.yes_realised_cents, h.yes_traded
        ),
        (
          'no', h.no_public_id, h.no_quantity, h.no_cost_cents,
          h.no_fee_cents, h.no_realised_cents, h.no_traded
        )
    ) as p (side, public_id, quantity, cost_cents, fee_cents, realised_cents, has_traded)
    left join (
      select s.market_id, s.user_id, s.side, s.realised_cents
      from (
        select r.market_id, max(r.id) as id
        from trading.resolutions as r
        group by r.market_id
      ) as r
      join trading.settlements as s on s.resolution_id = r.id and s.market_id = r.market_id
    ) as e on e.market_id = h.market_id and e.user_id = h.user_id and e.side = p.side
    left join trading.voided_positions as v
      on v.market_id = h.market_id and v.user_id = h.user_id and v.side = p.side
    where p.public_id is not null
      or p.has_traded
    union all
    select c_end, null, null, c_end, 0, 0, 0, 0, false, '', null
    order by market_id, user_id, side, place
  loop
    if not v_is_open
      or (v_move.market_id, v_move.user_id, v_move.side)
        is distinct from (v_market_id, v_user_id, v_side)
    then
      if v_is_open then
        return query select 'position equals what was traded, split and merged',
          concat_ws(' ', 'market', v_market_id, 'user', v_user_id, v_side),
          v_quantity::text, 'none';
      end if;
      v_market_id := v_move.market_id;
      v_user_id := v_move.user_id;
      v_side := v_move.side;
      v_quantity := 0;
      v_cost := 0;
      v_fees := 0;
      v_realised := 0;
      v_noted := 0;
      v_traded := false;
      v_is_open := true;
    end if;

    if v_move.place = c_end then
      v_is_open := false;
      v_object := concat_ws(' ', 'market', v_market_id, 'user', v_user_id, v_side);
      if v_move.quantity <> v_quantity then
        return query select 'position equals what was traded, split and merged',
          v_object, v_quantity::text, v_move.quantity::text;
      end if;
      if v_move.cents <> v_cost or v_move.fee_cents <> v_fees then
        return query select 'cost and fees are what was paid less what was taken out',
          v_object, v_cost || ' with fees of ' || v_fees,
          v_move.cents || ' with fees of ' || v_move.fee_cents;
      end if;
      if v_move.realised_cents <> v_noted then
        return query select 'realised cash is the sum of sales, merges and the settlement',
          v_object, v_noted || ' without the settlement',
          v_move.realised_cents || ' without the settlement';
      end if;
      if v_move.has_traded <> v_traded then
        return query select 'position says whether it was traded',
          v_object, v_traded::text, v_move.has_traded::text;
      end if;
      continue;
    end if;

    v_traded := v_traded or v_move.has_traded;
    v_noted := v_noted + coalesce(v_move.realised_cents, 0);
    if v_move.quantity > 0 then
      v_quantity := v_quantity + v_move.quantity;
      v_cost := v_cost + v_move.cents;
      v_fees := v_fees + v_move.fee_cents;
      continue;
    end if;

    v_shares := -v_move.quantity;
    if v_shares < v_quantity then
      v_cost_out := core.half_up(v_cost * v_shares, v_quantity);
      v_fees_out := core.half_up(v_fees * v_shares, v_quantity);
    else
      v_cost_out := v_cost;
      v_fees_out := v_fees;
    end if;
    v_object := concat_ws(' ', v_move.source || v_move.source_id, 'user', v_user_id, v_side);
    if v_shares > v_quantity then
      return query select 'shares that leave a position were in it',
        v_object, '<= ' || v_quantity, v_shares::text;
    end if;
    v_realised := v_move.cents - v_move.fee_cents - v_cost_out - v_fees_out;
    if v_realised is distinct from v_move.realised_cents then
      return query select 'sale realises its proceeds less cost and fees taken out',
        v_object, v_realised::text, coalesce(v_move.realised_cents::text, 'nothing');
    end if;
    v_quantity := v_quantity - v_shares;
    v_cost := v_cost - v_cost_out;
    v_fees := v_fees - v_fees_out;
  end loop;
end
$$;

comment on function trading.verify_positions() is
  'The part of ledger.verify() about positions: computes each again from its trades, splits, '
  'merges and voids in their order, that of their journals. Shares that leave take cost and buy '
  'fees with them pro rata, rounded half up; the last share takes what is left. One row for each '
  'broken invariant.';
