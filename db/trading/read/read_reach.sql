create or replace function trading.read_reach(batch trading.batch)
returns trading.batch
language plpgsql stable
as $$
declare
  r constant trading.requests := batch.requests;
  m constant trading.markets_read := batch.markets;
begin
  select
    array_agg(
      case
        when v.fok_shares + k.joining < v.most then 0
        when v.is_small then v.most
        when f.is_blocked then 1
        else least(
          v.most,
          r.budget_cents[v.i] / v.least_cents + 1,
          case
            when r.order_type[v.i] = 'sell' then case when f.held_quantity < v.most then 1 end
            when r.post_only[v.i] then 1
            else greatest(f.spendable_cents, 0) / v.least_cents + 1
          end + case when o.price is null and not f.ends_at_limit then 0 else c.most_beyond end
        )::int
      end
      order by v.i
    ),
    array_agg(
      case
        when v.is_small then 0
        when o.price is not null then trading.shares_within(
          m.id[v.g], not r.is_yes[v.i], o.price + 1, batch.at
        )
      end
      order by v.i
    ),
    array_agg(v.fok_shares order by v.i),
    array_agg(o.orders::int order by v.i)
  into batch.demand, batch.shares_before_own, batch.fok_shares, batch.own_orders
  from (
    select
      i, g,
      coalesce(r.quantity[i], 10000) as most,
      not trading.is_large(r.quantity[i]) as is_small,
      -- What a share costs at least, as the book stands now.
      100 - case when r.is_yes[i] then m.best_no_price[g] else m.best_yes_price[g] end
        as least_cents,
      case
        when r.time_in_force[i] = 'fok'
          and r.quantity[i] is not null
          and r.problem[i] is null
          and m.live_delay_ms[g] is null
          and m.id[g] is not null
          then trading.shares_within(m.id[g], not r.is_yes[i], 100 - r.book_price[i], batch.at)
      end as fok_shares
    from generate_subscripts(r.user_id, 1) as i
    cross join lateral (select r.market_place[i] offset 0) as x (g)
  ) as v
  cross join (values (trading.most_beyond())) as c (most_beyond)
  -- What other orders of the call may add to the side that a fok order takes from.
  cross join lateral (
    select case when v.fok_shares is null then 0 else (
      select coalesce(sum(r.quantity[j]), 0)
      from generate_series(1, v.i - 1) as j
      where r.market_place[j] = v.g
        and r.is_yes[j] <> r.is_yes[v.i]
        and r.time_in_force[j] = 'gtc'
    ) end as joining
  ) as k
  left join lateral (
    select
      t.blocked_by is not null or m.site_paused or not m.is_open[v.g] as is_blocked,
      coalesce(t.limit_cents < t.balance_cents, false) as ends_at_limit,
      least(t.balance_cents, t.limit_cents) as spendable_cents,
      coalesce(
        (
          select case r.side[v.i] when 'yes' then h.yes_quantity else h.no_quantity end
          from trading.holdings as h
          where h.market_id = m.id[v.g] and h.user_id = r.user_id[v.i]
        ),
        0
      ) as held_quantity
    from (
      select
        u.balance_cents,
        risk.blocked_by(u, (select s.minimum_age from core.settings as s), batch.at) as blocked_by,
        least((l.limits).day_cents, (l.limits).week_cents, (l.limits).month_cents) as limit_cents
      from trading.traders as u
      cross join lateral (select risk.limits_in_force(u, batch.at)) as l (limits)
      where u.user_id = r.user_id[v.i]
    ) as t
    where not v.is_small
  ) as f on true
  left join lateral (
    select max(x.book_price) as price, count(*) as orders
    from trading.active_orders as x
    where x.user_id = r.user_id[v.i]
      and x.market_id = m.id[v.g]
      and x.queue_position is not null
      and (x.book_side = 'yes') <> r.is_yes[v.i]
      and x.book_price >= 100 - r.book_price[v.i]
      and (x.expires_at is null or x.expires_at > batch.at)
      and (not v.is_small or v.fok_shares is not null)
  ) as o on true;
  return batch;
end
$$;

comment on function trading.read_reach(trading.batch) is
  'How far the requests of a call need to look into the books. demand: the shares that each '
  'can take at most, by its cash, limits or shares as they are now, so that a request that must '
  'be rejected reads little of a deep book. It is an estimate: cash is not locked yet, and a '
  'match that comes to the end of what was read starts over with more. shares_before_own: what '
  'stands at better prices than the best resting order of its own user that it could reach, '
  'without expired orders; null when there is none; 0 of orders of up to 100 shares, which never '
  'ask. Of a fok order also fok_shares: all shares within its price, without expired ones, and '
  'own_orders: how many orders of its user are among them, so that it can be rejected without a '
  'walk through the orders. Cost: the user''s open orders. The caller holds the markets'' locks.';
