create or replace function trading.read_reach(
  markets trading.market_context[], requests trading.order_request[]
)
returns table (demand int[], shares_before_own bigint[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select
      array_agg(
        case
          when r.is_small then r.most
          when f.is_blocked then 1
          else least(
            r.most,
            r.budget_cents / r.least_cents + 1,
            case
              when r.order_type = 'sell' then case when f.held_quantity < r.most then 1 end
              when r.post_only then 1
              else greatest(f.spendable_cents, 0) / r.least_cents + 1
            end + case when o.price is null and not f.ends_at_limit then 0 else c.most_beyond end
          )::int
        end
        order by r.ordinality
      ),
      array_agg(case when r.is_small then 0 else b.quantity end order by r.ordinality)
    from (
      select
        q.*,
        coalesce(q.quantity, 10000) as most,
        not trading.is_large(q.quantity) as is_small,
        m.site_paused or not m.is_open as is_halted,
        -- What a share costs at least, as the book stands now.
        100 - case q.book_side when 'yes' then m.best_no_price else m.best_yes_price end
          as least_cents,
        m.at
      from unnest(read_reach.requests) with ordinality as q
      join unnest(read_reach.markets) with ordinality as m (
        market_id, public_id, title, category_id, at, site_paused, is_open, live_delay_ms,
        taker_rate_bps, fee_schedule_id, escrow_cents, escrow_version, revenue_cents,
        revenue_version, best_yes_price, first_yes_position, best_no_price, first_no_position, place
      ) on m.place = q.market
    ) as r
    cross join (values (trading.most_beyond())) as c (most_beyond)
    left join lateral (
      select
        t.blocked_by is not null or r.is_halted as is_blocked,
        coalesce(t.limit_cents < t.balance_cents, false) as ends_at_limit,
        least(t.balance_cents, t.limit_cents) as spendable_cents,
        coalesce(
          (
            select case r.side when 'yes' then h.yes_quantity else h.no_quantity end
            from trading.holdings as h
            where h.market_id = r.market_id and h.user_id = r.user_id
          ),
          0
        ) as held_quantity
      from (
        select
          g.balance_cents,
          risk.blocked_by(g, r.at) as blocked_by,
          least((l.limits).day_cents, (l.limits).week_cents, (l.limits).month_cents) as limit_cents
        from trading.traders as g
        cross join lateral (select risk.limits_in_force(g, r.at)) as l (limits)
        where g.user_id = r.user_id
      ) as t
      where not r.is_small
    ) as f on true
    left join lateral (
      select max(x.book_price) as price
      from trading.active_orders as x
      where x.user_id = r.user_id
        and x.market_id = r.market_id
        and x.queue_position is not null
        and x.book_side <> r.book_side
        and x.book_price >= 100 - r.book_price
        and not r.is_small
    ) as o on true
    left join lateral (
      select coalesce(sum(d.quantity), 0)::bigint as quantity
      from trading.market_state as s
      cross join lateral unnest(
        case r.book_side
          when 'yes' then s.depth[99 + o.price + 1 : 198]
          else s.depth[o.price + 1 : 99]
        end
      ) as d (quantity)
      where s.market_id = r.market_id
      having o.price is not null
    ) as b on true;
end
$$;

comment on function trading.read_reach(trading.market_context[], trading.order_request[]) is
  'How far requests need to look into the books, in their order. demand: the shares that each can '
  'take at most, by its cash, limits or shares as they are now, so that a request that must be '
  'rejected reads little of a deep book. It is an estimate: cash is not locked yet, and a match '
  'that comes to the end of what was read starts over with more. shares_before_own: what stands '
  'at better prices than the best resting order of its own user that it could reach; null when '
  'there is none. Orders of up to 100 shares are not looked at: 0. Cost: the user''s open orders. '
  'The caller holds the markets'' locks.';
