create or replace function ledger.verify()
returns table (invariant text, object text, expected text, found text)
language sql stable security definer
set search_path = ''
as $$
  with
  entry_sums as (
    select
      e.account_id,
      sum(e.amount_cents) as balance_cents,
      count(*) as entry_count,
      max(e.account_version) as last_version
    from ledger.entries as e
    group by e.account_id
  ),
  shares as (
    select
      p.market_id,
      coalesce(sum(p.quantity) filter (where p.side = 'yes'), 0) as yes_quantity,
      coalesce(sum(p.quantity) filter (where p.side = 'no'), 0) as no_quantity
    from trading.positions as p
    group by p.market_id
  ),
  -- What each trade did to the shares of its two traders: a buy adds to the order's side, a sale
  -- takes from it and realises something.
  share_movements as (
    select t.market_id, o.user_id, o.side,
      case o.order_type when 'buy' then t.quantity else -t.quantity end as quantity,
      t.taker_realised_cents as realised_cents
    from trading.trades as t
    join trading.orders as o on o.id = t.taker_order_id
    union all
    select t.market_id, o.user_id, o.side,
      case o.order_type when 'buy' then t.quantity else -t.quantity end,
      t.maker_realised_cents
    from trading.trades as t
    join trading.orders as o on o.id = t.maker_order_id
  ),
  share_sums as (
    select s.market_id, s.user_id, s.side,
      sum(s.quantity) as quantity, coalesce(sum(s.realised_cents), 0) as realised_cents
    from share_movements as s
    group by s.market_id, s.user_id, s.side
  ),
  order_fills as (
    select f.order_id, sum(f.quantity) as quantity, sum(f.fee_cents) as fee_cents
    from (
      select t.taker_order_id, t.quantity, t.fee_cents from trading.trades as t
      union all
      select t.maker_order_id, t.quantity, 0 from trading.trades as t
    ) as f (order_id, quantity, fee_cents)
    group by f.order_id
  ),
  resting as (
    select b.*, o.quantity - o.filled_quantity as left_quantity
    from trading.open_orders as b
    join trading.orders as o on o.id = b.order_id
    where b.queue_position is not null
  ),
  trade_sums as (
    select
      t.market_id,
      count(*) as trade_count,
      sum(t.quantity::bigint * t.price) as yes_volume_cents,
      sum(t.quantity::bigint * (100 - t.price)) as no_volume_cents
    from trading.trades as t
    group by t.market_id
  )

  select 'journal sums to zero', 'journal ' || e.journal_id, '0', sum(e.amount_cents)::text
  from ledger.entries as e
  group by e.journal_id
  having sum(e.amount_cents) <> 0

  union all
  select 'entry belongs to a journal', 'journal ' || e.journal_id, 'a journal', 'none'
  from ledger.entries as e
  where not exists (select from ledger.journals as j where j.id = e.journal_id)

  union all
  select 'entry belongs to an account', 'account ' || s.account_id, 'an account', 'none'
  from entry_sums as s
  where not exists (select from ledger.accounts as a where a.id = s.account_id)

  union all
  select 'balance equals the sum of entries', 'account ' || a.id,
    coalesce(s.balance_cents, 0)::text, a.balance_cents::text
  from ledger.accounts as a
  left join entry_sums as s on s.account_id = a.id
  where a.balance_cents <> coalesce(s.balance_cents, 0)

  union all
  select 'version equals the number of entries', 'account ' || a.id,
    coalesce(s.entry_count, 0)::text, a.version || ' and last ' || coalesce(s.last_version, 0)
  from ledger.accounts as a
  left join entry_sums as s on s.account_id = a.id
  where a.version <> coalesce(s.entry_count, 0)
    or a.version <> coalesce(s.last_version, 0)

  union all
  select 'entry starts at the balance of the one before',
    'account ' || e.account_id || ' version ' || e.account_version,
    e.expected_cents::text, e.balance_before_cents::text
  from (
    select
      x.account_id,
      x.account_version,
      x.balance_before_cents,
      lag(x.balance_after_cents, 1, 0::bigint)
        over (partition by x.account_id order by x.account_version) as expected_cents
    from ledger.entries as x
  ) as e
  where e.balance_before_cents <> e.expected_cents

  union all
  select 'balance is not below zero', 'account ' || a.id, '>= 0', a.balance_cents::text
  from ledger.accounts as a
  where a.kind <> 'outside_world'
    and a.balance_cents + a.overdraft_cents < 0

  union all
  select 'cash is conserved', 'all accounts', '0', sum(a.balance_cents)::text
  from ledger.accounts as a
  having sum(a.balance_cents) <> 0

  union all
  select 'cash inside equals what came from outside', 'outside world',
    (-coalesce(sum(a.balance_cents) filter (where a.kind = 'outside_world'), 0))::text,
    sum(a.external_cents)::text
  from ledger.accounts as a
  having sum(a.external_cents)
    <> -coalesce(sum(a.balance_cents) filter (where a.kind = 'outside_world'), 0)

  union all
  select 'external cash equals the deposits less the withdrawals', 'account ' || a.id,
    coalesce(m.net_cents, 0)::text, a.external_cents::text
  from ledger.accounts as a
  left join (
    select
      c.account_id,
      sum(case c.kind when 'deposit' then c.amount_cents else -c.amount_cents end) as net_cents
    from ledger.cash_movements as c
    group by c.account_id
  ) as m on m.account_id = a.id
  where a.external_cents <> coalesce(m.net_cents, 0)

  union all
  select 'escrow is 100 x shares of each side', 'market ' || m.public_id,
    case when m.status = 'resolved' then '0'
      else 100 * coalesce(s.yes_quantity, 0) || ' = ' || 100 * coalesce(s.no_quantity, 0) end,
    a.balance_cents::text
  from catalog.markets as m
  join trading.books as b on b.market_id = m.id
  join ledger.accounts as a on a.id = b.escrow_account_id
  left join shares as s on s.market_id = m.id
  where case
    when m.status = 'resolved' then a.balance_cents <> 0
    else a.balance_cents <> 100 * coalesce(s.yes_quantity, 0)
      or a.balance_cents <> 100 * coalesce(s.no_quantity, 0)
  end

  union all
  select 'position equals the sum of its fills',
    'market ' || coalesce(p.market_id, s.market_id) || ' user ' || coalesce(p.user_id, s.user_id)
      || ' ' || coalesce(p.side, s.side),
    coalesce(s.quantity, 0)::text, coalesce(p.quantity, 0)::text
  from trading.positions as p
  full join share_sums as s
    on s.market_id = p.market_id and s.user_id = p.user_id and s.side = p.side
  where coalesce(p.quantity, 0) <> coalesce(s.quantity, 0)

  union all
  select 'realised cash equals the sum of what was realised',
    'market ' || p.market_id || ' user ' || p.user_id || ' ' || p.side,
    coalesce(s.realised_cents, 0)::text, p.realised_cents::text
  from trading.positions as p
  left join share_sums as s
    on s.market_id = p.market_id and s.user_id = p.user_id and s.side = p.side
  where p.realised_cents <> coalesce(s.realised_cents, 0)

  union all
  select 'filled quantity equals the trades', 'order ' || o.public_id,
    coalesce(f.quantity, 0)::text, o.filled_quantity::text
  from trading.orders as o
  left join order_fills as f on f.order_id = o.id
  where o.filled_quantity <> coalesce(f.quantity, 0)

  union all
  select 'order fee equals the fees of its trades', 'order ' || o.public_id,
    coalesce(f.fee_cents, 0)::text, o.fee_cents::text
  from trading.orders as o
  left join order_fills as f on f.order_id = o.id
  where o.fee_cents <> coalesce(f.fee_cents, 0)

  union all
  select 'fill belongs to an order', 'order ' || f.order_id, 'an order', 'none'
  from order_fills as f
  where not exists (select from trading.orders as o where o.id = f.order_id)

  union all
  select 'order has its user and market', 'order ' || o.public_id, 'both', 'not both'
  from trading.orders as o
  where not exists (select from identity.users as u where u.id = o.user_id)
    or not exists (select from trading.books as b where b.market_id = o.market_id)

  union all
  select 'archived order has its user and market', 'order ' || a.public_id, 'both', 'not both'
  from trading.archived_orders as a
  where not exists (select from identity.users as u where u.id = a.user_id)
    or not exists (select from trading.books as b where b.market_id = a.market_id)

  union all
  select 'archived order is nowhere else', 'order ' || a.public_id, 'archived', 'archived and not'
  from trading.archived_orders as a
  where exists (select from trading.orders as o where o.id = a.id)
    or exists (select from trading.orders as o where o.public_id = a.public_id)
    or exists (select from trading.open_orders as b where b.order_id = a.id)

  union all
  select 'trade has its journal', 'trade ' || t.public_id, 'a trade journal', 'none'
  from trading.trades as t
  where not exists (
    select from ledger.journals as j where j.id = t.journal_id and j.kind = 'trade'
  )

  union all
  select 'order is open while its status says so', 'order ' || coalesce(o.public_id::text, '?'),
    coalesce(o.status::text, 'an order'),
    case when b.order_id is null then 'not open'
      when b.queue_position is null then 'scheduled' else 'resting' end
  from trading.orders as o
  full join trading.open_orders as b on b.order_id = o.id
  where case
    when o.status = 'scheduled' then b.order_id is null or b.queue_position is not null
    when o.status in ('open', 'partially_filled') then b.queue_position is null
    else b.order_id is not null
  end

  union all
  select 'open order repeats its order', 'order ' || o.public_id,
    concat_ws(' ', o.market_id, o.user_id, o.side, o.order_type, o.price, o.expires_at),
    concat_ws(' ', b.market_id, b.user_id, b.book_side, b.book_price, b.expires_at)
  from trading.open_orders as b
  join trading.orders as o on o.id = b.order_id
  where (b.market_id, b.user_id) <> (o.market_id, o.user_id)
    or (b.book_side = o.side) <> (o.order_type = 'buy')
    or b.book_price <> case o.order_type when 'buy' then o.price else 100 - o.price end
    or b.expires_at is distinct from o.expires_at

  union all
  select 'depth equals the resting orders',
    'market ' || coalesce(l.market_id, r.market_id) || ' '
      || coalesce(l.book_side, r.book_side) || ' ' || coalesce(l.book_price, r.book_price),
    coalesce(r.quantity, 0) || ' in ' || coalesce(r.order_count, 0),
    coalesce(l.quantity, 0) || ' in ' || coalesce(l.order_count, 0)
  from trading.book_levels as l
  full join (
    select g.market_id, g.book_side, g.book_price,
      sum(g.left_quantity) as quantity, count(*) as order_count
    from resting as g
    group by g.market_id, g.book_side, g.book_price
  ) as r
    on r.market_id = l.market_id
    and r.book_side = l.book_side
    and r.book_price = l.book_price
  where coalesce(l.quantity, 0) <> coalesce(r.quantity, 0)
    or coalesce(l.order_count, 0) <> coalesce(r.order_count, 0)

  union all
  select 'book is not crossed', 'market ' || r.market_id,
    'below 100',
    (max(r.book_price) filter (where r.book_side = 'yes')
      + max(r.book_price) filter (where r.book_side = 'no'))::text
  from resting as r
  group by r.market_id
  having max(r.book_price) filter (where r.book_side = 'yes')
    + max(r.book_price) filter (where r.book_side = 'no') >= 100

  union all
  select 'market figures equal its trades', 'market ' || b.market_id,
    concat_ws(' ', coalesce(t.trade_count, 0), coalesce(t.yes_volume_cents, 0),
      coalesce(t.no_volume_cents, 0)),
    concat_ws(' ', b.trade_count, b.yes_volume_cents, b.no_volume_cents)
  from trading.books as b
  left join trade_sums as t on t.market_id = b.market_id
  where (b.trade_count, b.yes_volume_cents, b.no_volume_cents)
    <> (
      coalesce(t.trade_count, 0), coalesce(t.yes_volume_cents, 0),
      coalesce(t.no_volume_cents, 0)
    )

  union all
  select 'traders count equals who traded', 'market ' || b.market_id,
    coalesce(p.traders, 0)::text, b.traders_count::text
  from trading.books as b
  left join (
    select x.market_id, count(distinct x.user_id) as traders
    from trading.positions as x
    where x.has_traded
    group by x.market_id
  ) as p on p.market_id = b.market_id
  where b.traders_count <> coalesce(p.traders, 0)

  union all
  select 'fee revenue equals the fees of the trades', 'market ' || b.market_id,
    coalesce(t.fee_cents, 0)::text, a.balance_cents::text
  from trading.books as b
  join ledger.accounts as a on a.id = b.fee_account_id
  left join (
    select x.market_id, sum(x.fee_cents) as fee_cents
    from trading.trades as x
    group by x.market_id
  ) as t on t.market_id = b.market_id
  where a.balance_cents <> coalesce(t.fee_cents, 0)
$$;

comment on function ledger.verify() is
  'One row for each broken invariant of ledger, shares, orders and book: its name, the object, '
  'what was expected and what was found. No row on a sound database. One statement, hence one '
  'snapshot: it may run while trading goes on.';
