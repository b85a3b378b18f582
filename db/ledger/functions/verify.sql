create or replace function ledger.verify()
returns table (name text, object text, expected text, found text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
set jit = off
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
  -- Each trade from the side of its taker and of its maker: a buy adds shares to the side of the
  -- order, a sale takes from it. The trader's own side has the price; cash is what they got.
  parties as (
    select
      f.trade_id, f.market_id, f.journal_id, f.order_id, f.user_id, f.stored_side,
      f.realised_cents, f.trade_price, f.trade_quantity, f.trade_fee_cents,
      o.market_id as order_market_id, o.user_id as order_user_id, o.side, o.order_type,
      o.order_type = 'buy' as bought,
      f.trade_quantity
        * case o.side when 'yes' then f.trade_price else 100 - f.trade_price end as value_cents
    from (
      select t.id, t.market_id, t.journal_id, t.taker_order_id, t.taker_user_id, t.taker_side,
        t.taker_realised_cents, t.price, t.quantity::bigint, t.fee_cents
      from trading.trades as t
      union all
      select t.id, t.market_id, t.journal_id, t.maker_order_id, t.maker_user_id,
        case t.taker_side when 'yes' then 'no' else 'yes' end::trading.side,
        t.maker_realised_cents, t.price, t.quantity, 0
      from trading.trades as t
    ) as f (
      trade_id, market_id, journal_id, order_id, user_id, stored_side, realised_cents,
      trade_price, trade_quantity, trade_fee_cents
    )
    join trading.orders as o on o.id = f.order_id
  ),
  -- What moved the shares of a position before its market was resolved.
  share_movements as (
    select p.market_id, p.order_user_id as user_id, p.side,
      case when p.bought then p.trade_quantity else -p.trade_quantity end as quantity,
      case when p.bought then -p.value_cents else p.value_cents end - p.trade_fee_cents
        as cash_cents,
      case when p.bought then p.trade_fee_cents else 0 end as buy_fee_cents,
      coalesce(p.realised_cents, 0) as realised_cents
    from parties as p
    union all
    select c.market_id, c.user_id, l.side, l.sign * c.quantity::bigint,
      l.sign * -50 * c.quantity::bigint, 0, coalesce(l.realised_cents, 0)
    from trading.set_conversions as c
    cross join lateral (
      values
        ('yes'::trading.side, case c.kind when 'split' then 1 else -1 end, c.yes_realised_cents),
        ('no', case c.kind when 'split' then 1 else -1 end, c.no_realised_cents)
    ) as l (side, sign, realised_cents)
  ),
  share_sums as (
    select s.market_id, s.user_id, s.side,
      sum(s.quantity) as quantity,
      sum(s.realised_cents) as realised_cents,
      sum(s.realised_cents - s.cash_cents) as paid_cents,
      sum(s.buy_fee_cents) as buy_fee_cents,
      bool_or(s.quantity < 0) as is_reduced
    from share_movements as s
    group by s.market_id, s.user_id, s.side
  ),
  -- The resolutions with the one before in the same market, which each but the first corrects.
  resolutions as (
    select r.*,
      lag(r.id) over (partition by r.market_id order by r.id) as id_before,
      lead(r.id) over (partition by r.market_id order by r.id) is null as is_last,
      first_value(r.created_at) over (partition by r.market_id order by r.id) as first_at
    from trading.resolutions as r
  ),
  -- Everything that has a journal.
  happenings as (
    select t.journal_id, 'trade'::ledger.journal_kind as kind, t.market_id
    from trading.trades as t
    union all
    select c.journal_id, c.kind::text::ledger.journal_kind, c.market_id
    from trading.set_conversions as c
    union all
    select r.journal_id,
      case when r.corrects_resolution_id is null then 'settlement' else 'correction' end
        ::ledger.journal_kind,
      r.market_id
    from trading.resolutions as r
    where r.journal_id is not null
    union all
    select m.journal_id, m.kind, null
    from ledger.cash_movements as m
  ),
  -- The lines that the journals must have, by what happened.
  user_lines as (
    select p.journal_id, p.market_id, p.order_user_id as user_id,
      case when p.bought then -p.value_cents else p.value_cents end - p.trade_fee_cents
        as amount_cents
    from parties as p
    union all
    select c.journal_id, c.market_id, c.user_id,
      case c.kind when 'split' then -100 else 100 end * c.quantity::bigint
    from trading.set_conversions as c
    union all
    select r.journal_id, r.market_id, s.user_id,
      sum(case when s.resolution_id = r.id then s.payout_cents else -s.payout_cents end)
    from trading.resolutions as r
    join trading.settlements as s on s.resolution_id in (r.id, r.corrects_resolution_id)
    group by r.id, s.user_id
  ),
  fee_lines as (
    select t.journal_id, t.market_id, t.fee_cents as amount_cents
    from trading.trades as t
    where t.fee_cents > 0
  ),
  lines as (
    select u.journal_id, a.id as account_id, u.amount_cents
    from user_lines as u
    join ledger.accounts as a on a.user_id = u.user_id
    where u.amount_cents <> 0
    union all
    select f.journal_id, b.fee_account_id, f.amount_cents
    from fee_lines as f
    join trading.books as b on b.market_id = f.market_id
    union all
    select e.journal_id, b.escrow_account_id, e.amount_cents
    from (
      select l.journal_id, l.market_id, -sum(l.amount_cents) as amount_cents
      from (
        select u.journal_id, u.market_id, u.amount_cents from user_lines as u
        union all
        select f.journal_id, f.market_id, f.amount_cents from fee_lines as f
      ) as l
      group by l.journal_id, l.market_id
      having sum(l.amount_cents) <> 0
    ) as e
    join trading.books as b on b.market_id = e.market_id
    union all
    select m.journal_id, l.account_id, l.amount_cents
    from ledger.cash_movements as m
    cross join (
      select a.id from ledger.accounts as a where a.kind = 'outside_world'
    ) as outside
    cross join lateral (
      values
        (m.account_id, case m.kind when 'deposit' then m.amount_cents else -m.amount_cents end),
        (outside.id, case m.kind when 'deposit' then -m.amount_cents else m.amount_cents end)
    ) as l (account_id, amount_cents)
  ),
  order_fills as (
    select
      p.order_id,
      sum(p.trade_quantity) as quantity,
      sum(p.trade_fee_cents) as fee_cents
    from parties as p
    group by p.order_id
  ),
  taken as (
    select
      t.taker_order_id,
      max(t.fee_schedule_id) as fee_schedule_id,
      sum(t.quantity::bigint * t.price * (100 - t.price))::bigint as weight,
      sum(t.fee_cents) as fee_cents
    from trading.trades as t
    group by t.taker_order_id
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
      sum(t.quantity::bigint * (100 - t.price)) as no_volume_cents,
      max(t.id) as last_trade_id
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
  select 'day opening belongs to a user''s account',
    'account ' || d.account_id || ' day ' || d.day, 'a user''s account', 'none'
  from ledger.day_openings as d
  where not exists (
    select from ledger.accounts as a where a.id = d.account_id and a.kind = 'user_cash'
  )

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
  select 'position equals what was traded, split and merged',
    'market ' || coalesce(p.market_id, s.market_id) || ' user ' || coalesce(p.user_id, s.user_id)
      || ' ' || coalesce(p.side, s.side),
    coalesce(s.quantity, 0)::text, coalesce(p.quantity, 0)::text
  from trading.positions as p
  full join share_sums as s
    on s.market_id = p.market_id and s.user_id = p.user_id and s.side = p.side
  where coalesce(p.quantity, 0) <> coalesce(s.quantity, 0)

  union all
  select 'cost and fees are what was paid less what was taken out',
    'market ' || p.market_id || ' user ' || p.user_id || ' ' || p.side,
    coalesce(s.paid_cents, 0) || ' with fees of up to ' || coalesce(s.buy_fee_cents, 0),
    p.cost_cents + p.fee_cents || ' with fees of ' || p.fee_cents
  from trading.positions as p
  left join share_sums as s
    on s.market_id = p.market_id and s.user_id = p.user_id and s.side = p.side
  where p.cost_cents + p.fee_cents <> coalesce(s.paid_cents, 0)
    or p.fee_cents > coalesce(s.buy_fee_cents, 0)
    or p.fee_cents < s.buy_fee_cents and not s.is_reduced

  union all
  select 'realised cash is the sum of sales, merges and the settlement',
    'market ' || p.market_id || ' user ' || p.user_id || ' ' || p.side,
    (coalesce(s.realised_cents, 0) + coalesce(e.realised_cents, 0))::text,
    p.realised_cents::text
  from trading.positions as p
  left join share_sums as s
    on s.market_id = p.market_id and s.user_id = p.user_id and s.side = p.side
  left join (
    select x.*
    from resolutions as r
    join trading.settlements as x on x.resolution_id = r.id
    where r.is_last
  ) as e
    on e.market_id = p.market_id and e.user_id = p.user_id and e.side = p.side
  where p.realised_cents <> coalesce(s.realised_cents, 0) + coalesce(e.realised_cents, 0)

  union all
  select 'settlement repeats its position',
    'resolution ' || coalesce(e.resolution_id, r.id) || ' user ' || coalesce(e.user_id, p.user_id)
      || ' ' || coalesce(e.side, p.side),
    concat_ws(' ', p.market_id, p.quantity, p.cost_cents, p.fee_cents),
    concat_ws(' ', e.market_id, e.quantity, e.cost_cents, e.fee_cents)
  from resolutions as r
  join trading.positions as p on p.market_id = r.market_id and p.quantity > 0
  full join trading.settlements as e
    on e.resolution_id = r.id and e.user_id = p.user_id and e.side = p.side
  where (p.market_id, p.quantity, p.cost_cents, p.fee_cents)
    is distinct from (e.market_id, e.quantity, e.cost_cents, e.fee_cents)

  union all
  select 'settlement pays what the outcome says',
    'resolution ' || e.resolution_id || ' user ' || e.user_id || ' ' || e.side,
    e.quantity * case e.side when 'yes' then r.yes_payout_cents else 100 - r.yes_payout_cents end
      || '',
    e.payout_cents::text
  from trading.settlements as e
  join resolutions as r on r.id = e.resolution_id
  where e.payout_cents <> e.quantity
    * case e.side when 'yes' then r.yes_payout_cents else 100 - r.yes_payout_cents end

  union all
  select 'resolution equals its settlements', 'resolution ' || r.id,
    coalesce(e.positions, 0) || ' paid ' || coalesce(e.payout_cents, 0),
    r.position_count || ' paid ' || r.payout_cents
  from resolutions as r
  left join (
    select x.resolution_id, count(*) as positions, sum(x.payout_cents) as payout_cents
    from trading.settlements as x
    group by x.resolution_id
  ) as e on e.resolution_id = r.id
  where (r.position_count, r.payout_cents)
    <> (coalesce(e.positions, 0), coalesce(e.payout_cents, 0))

  union all
  select 'resolution corrects the one before', 'resolution ' || r.id,
    coalesce(r.id_before::text, 'none'), coalesce(r.corrects_resolution_id::text, 'none')
  from resolutions as r
  where r.corrects_resolution_id is distinct from r.id_before

  union all
  select 'market is resolved as its last resolution says', 'market ' || m.public_id,
    concat_ws(' ', coalesce(r.outcome::text, 'not'), r.yes_payout_cents, r.first_at),
    concat_ws(' ', coalesce(m.resolved_outcome::text, 'not'), m.yes_payout_cents, m.resolved_at)
  from catalog.markets as m
  left join resolutions as r on r.market_id = m.id and r.is_last
  where (m.resolved_outcome, m.yes_payout_cents, m.resolved_at)
    is distinct from (r.outcome, r.yes_payout_cents, r.first_at)

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
  select 'order fee is what its schedule says', 'order ' || f.taker_order_id,
    coalesce(trading.fee_cents(s.taker_rate_bps, f.weight)::text, 'a schedule'),
    f.fee_cents::text
  from taken as f
  left join trading.fee_schedules as s on s.id = f.fee_schedule_id
  where f.fee_cents is distinct from trading.fee_cents(s.taker_rate_bps, f.weight)

  union all
  select 'fill belongs to an order', 'trade ' || t.public_id, 'two orders', 'not both'
  from trading.trades as t
  where not exists (select from trading.orders as o where o.id = t.taker_order_id)
    or not exists (select from trading.orders as o where o.id = t.maker_order_id)

  union all
  select 'trade repeats its orders', 'trade ' || p.trade_id || ' order ' || p.order_id,
    concat_ws(' ', p.order_market_id, p.order_user_id,
      case when p.bought then p.side when p.side = 'yes' then 'no' else 'yes' end,
      case when p.bought then 'buys' else 'sells' end),
    concat_ws(' ', p.market_id, p.user_id, p.stored_side,
      case when p.realised_cents is null then 'buys' else 'sells' end)
  from parties as p
  where (p.order_market_id, p.order_user_id) <> (p.market_id, p.user_id)
    or p.bought <> (p.side = p.stored_side)
    or p.bought <> (p.realised_cents is null)

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
  select 'idempotency key stands for an order of its user', 'key ' || k.key,
    'an order of user ' || k.user_id, coalesce('of user ' || coalesce(o.user_id, a.user_id), 'none')
  from trading.idempotency_keys as k
  left join trading.orders as o on o.id = k.order_id
  left join trading.archived_orders as a on a.id = k.order_id
  where coalesce(o.user_id, a.user_id) is distinct from k.user_id

  union all
  select 'journal is of one thing that happened',
    'journal ' || coalesce(j.id, h.journal_id),
    coalesce(h.kind || coalesce(' in market ' || h.market_id, ''), 'nothing'),
    coalesce(j.kind || coalesce(' in market ' || j.market_id, ''), 'nothing')
  from ledger.journals as j
  full join (
    select x.journal_id, min(x.kind) as kind, min(x.market_id) as market_id, count(*) as times
    from happenings as x
    group by x.journal_id
  ) as h on h.journal_id = j.id
  where (h.kind, h.market_id, h.times) is distinct from (j.kind, j.market_id, 1::bigint)

  union all
  select 'journal has the lines of what happened',
    'journal ' || coalesce(l.journal_id, e.journal_id)
      || ' account ' || coalesce(l.account_id, e.account_id),
    coalesce(l.amount_cents, 0)::text, coalesce(e.amount_cents, 0)::text
  from lines as l
  full join ledger.entries as e
    on e.journal_id = l.journal_id and e.account_id = l.account_id
  where e.amount_cents is distinct from l.amount_cents

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
  select 'no order stands before the front of its book', 'order ' || r.order_id,
    concat_ws(' ', 'behind', f.price, f.queue_position),
    concat_ws(' ', r.book_side, r.book_price, r.queue_position)
  from resting as r
  join trading.books as b on b.market_id = r.market_id
  cross join lateral (
    values
      ('yes'::trading.side, b.front_yes_price, b.front_yes_position),
      ('no'::trading.side, b.front_no_price, b.front_no_position)
  ) as f (side, price, queue_position)
  where f.side = r.book_side
    and (r.book_price > f.price
      or (r.book_price = f.price and r.queue_position < f.queue_position))

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
  select 'last trade price is that of the last trade', 'market ' || b.market_id,
    coalesce(t.price::text, 'none'), coalesce(b.last_trade_price::text, 'none')
  from trading.books as b
  left join trade_sums as s on s.market_id = b.market_id
  left join trading.trades as t on t.id = s.last_trade_id
  where b.last_trade_price is distinct from t.price

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
