create or replace function trading.read_reach(
  requests trading.requests, markets trading.markets_read, at timestamptz
)
returns table (
  demand int[], shares_before_own bigint[], fok_shares bigint[], own_orders int[]
)
language plpgsql stable
as $$
begin
  return query
    select
      array_agg(
        case
          when r.fok_shares + k.joining < r.most then 0
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
        order by r.place
      ),
      array_agg(
        case
          when r.is_small then 0
          when o.price is not null then trading.shares_within(
            r.market_id, not r.is_yes, o.price + 1, read_reach.at
          )
        end
        order by r.place
      ),
      array_agg(r.fok_shares order by r.place),
      array_agg(o.orders::int order by r.place)
    from (
      select
        i as place,
        g as market_place,
        read_reach.requests.user_id[i] as user_id,
        read_reach.requests.side[i] as side,
        read_reach.requests.order_type[i] as order_type,
        read_reach.requests.budget_cents[i] as budget_cents,
        read_reach.requests.post_only[i] as post_only,
        read_reach.requests.is_yes[i] as is_yes,
        read_reach.requests.book_price[i] as book_price,
        coalesce(read_reach.requests.quantity[i], 10000) as most,
        not trading.is_large(read_reach.requests.quantity[i]) as is_small,
        read_reach.markets.site_paused or not read_reach.markets.is_open[g] as is_halted,
        read_reach.markets.id[g] as market_id,
        -- What a share costs at least, as the book stands now.
        100 - case when read_reach.requests.is_yes[i]
          then read_reach.markets.best_no_price[g] else read_reach.markets.best_yes_price[g]
        end as least_cents,
        case
          when read_reach.requests.time_in_force[i] = 'fok'
            and read_reach.requests.quantity[i] is not null
            and read_reach.requests.problem[i] is null
            and read_reach.markets.live_delay_ms[g] is null
            and read_reach.markets.id[g] is not null
            then trading.shares_within(
              read_reach.markets.id[g], not read_reach.requests.is_yes[i],
              100 - read_reach.requests.book_price[i], read_reach.at
            )
        end as fok_shares
      from generate_subscripts(read_reach.requests.user_id, 1) as i
      cross join lateral (select read_reach.requests.market_place[i] offset 0) as m (g)
    ) as r
    cross join (values (trading.most_beyond())) as c (most_beyond)
    -- What other orders of the call may add to the side that a fok order takes from.
    cross join lateral (
      select case when r.fok_shares is null then 0 else (
        select coalesce(sum(read_reach.requests.quantity[j]), 0)
        from generate_subscripts(read_reach.requests.user_id, 1) as j
        where j < r.place
          and read_reach.requests.market_place[j] = r.market_place
          and read_reach.requests.is_yes[j] <> r.is_yes
          and read_reach.requests.time_in_force[j] = 'gtc'
      ) end as joining
    ) as k
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
          risk.blocked_by(
            g, (select s.minimum_age from core.settings as s), read_reach.at
          ) as blocked_by,
          least((l.limits).day_cents, (l.limits).week_cents, (l.limits).month_cents) as limit_cents
        from trading.traders as g
        cross join lateral (select risk.limits_in_force(g, read_reach.at)) as l (limits)
        where g.user_id = r.user_id
      ) as t
      where not r.is_small
    ) as f on true
    left join lateral (
      select max(x.book_price) as price, count(*) as orders
      from trading.active_orders as x
      where x.user_id = r.user_id
        and x.market_id = r.market_id
        and x.queue_position is not null
        and (x.book_side = 'yes') <> r.is_yes
        and x.book_price >= 100 - r.book_price
        and (x.expires_at is null or x.expires_at > read_reach.at)
        and (not r.is_small or r.fok_shares is not null)
    ) as o on true;
end
$$;

comment on function trading.read_reach(trading.requests, trading.markets_read, timestamptz) is
  'How far requests need to look into the books, in their order. demand: the shares that each '
  'can take at most, by its cash, limits or shares as they are now, so that a request that must '
  'be rejected reads little of a deep book. It is an estimate: cash is not locked yet, and a '
  'match that comes to the end of what was read starts over with more. shares_before_own: what '
  'stands at better prices than the best resting order of its own user that it could reach, '
  'without expired orders; null when there is none; 0 of orders of up to 100 shares, which never '
  'ask. Of a fok order also fok_shares: all shares within its price, without expired ones, and '
  'own_orders: how many orders of its user are among them, so that it can be rejected without a '
  'walk through the orders. Cost: the user''s open orders. The caller holds the markets'' locks.';
