create or replace function trading.read_reach(
  context trading.market_context, requests trading.order_request[]
)
returns table (demand int[], may_meet_own boolean[])
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select
    array_agg(
      case
        when r.problem is not null then 0
        when r.is_small then r.most
        when o.may_meet_own then least(r.most, r.in_budget)
        when r.order_type = 'sell' then case when f.held_quantity < r.most then 1 else r.most end
        when r.post_only then 1
        else least(r.most, r.in_budget, greatest(f.balance_cents, 0) / r.least_cents + 1)
      end
      order by r.ordinality
    ),
    array_agg(r.is_small or o.may_meet_own order by r.ordinality)
  from (
    select
      q.*,
      coalesce(q.quantity, 10000) as most,
      coalesce(q.quantity, 10000) <= 100 as is_small,
      b.least_cents,
      q.budget_cents / b.least_cents + 1 as in_budget
    from unnest(read_reach.requests) with ordinality as q
    -- What a share costs at least, as the book stands now.
    cross join lateral (
      select 100 - case q.book_side when 'yes' then context.best_no else context.best_yes end
    ) as b (least_cents)
  ) as r
  left join lateral (
    -- Someone with very many open orders is taken to have one that can be reached.
    select count(*) = 200 or coalesce(bool_or(
      x.market_id = context.market_id
      and x.queue_position is not null
      and x.book_side <> r.book_side
      and x.book_price >= 100 - r.book_price
    ), false) as may_meet_own
    from (
      select y.*
      from trading.open_orders as y
      where y.user_id = r.user_id
      limit 200
    ) as x
    where not r.is_small
  ) as o on true
  left join lateral (
    select
      (
        select a.balance_cents from ledger.accounts as a where a.user_id = r.user_id
      ) as balance_cents,
      coalesce(
        (
          select p.quantity
          from trading.positions as p
          where p.market_id = context.market_id and p.user_id = r.user_id and p.side = r.side
        ),
        0
      ) as held_quantity
    where not r.is_small
  ) as f on true
$$;

comment on function trading.read_reach(trading.market_context, trading.order_request[]) is
  'How far requests need to look into the book, in the order of the requests: demand, the shares '
  'that each can take at most with its cash or shares as they are now, and may_meet_own, false '
  'when its user has no resting order that it could reach. A request that must be rejected for '
  'want of cash or shares then reads little of a deep book. The demand is an estimate: cash is '
  'not locked yet, and a match that comes to the end of what was read starts over with more. '
  'Orders of up to 100 shares are not looked at. The caller holds the market''s lock.';
