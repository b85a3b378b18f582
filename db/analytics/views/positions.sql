create or replace view analytics.positions as
select
  p.public_id as position_id,
  p.market_id as market_key,
  m.public_id as market_id,
  p.user_id as user_key,
  u.public_id as user_id,
  p.side::text as side,
  p.quantity::bigint as quantity,
  m.status = 'resolved' as is_settled,
  case when m.status = 'resolved' then 0 else p.quantity::bigint end as open_quantity,
  p.cost_cents::bigint as cost_cents,
  p.fee_cents::bigint as fee_cents,
  case
    when m.status = 'resolved' then 0
    else p.cost_cents::bigint + p.fee_cents::bigint
  end as open_cost_cents,
  p.realised_cents,
  p.has_traded,
  v.mark_price_cents,
  case when m.status = 'resolved' then 0 else v.value_cents end as mark_value_cents,
  case
    when m.status = 'resolved' then 0
    else v.value_cents - p.cost_cents::bigint - p.fee_cents::bigint
  end as unrealised_cents
from trading.positions as p
left join catalog.markets as m on m.id = p.market_id
left join trading.market_state as b on b.market_id = p.market_id
left join identity.users as u on u.id = p.user_id
cross join lateral (
  select
    coalesce(m.yes_payout_cents, b.last_trade_price::int),
    p.cost_cents::bigint + p.fee_cents::bigint
) as x (yes_price_cents, paid_cents)
cross join lateral (
  select
    case
      when x.yes_price_cents is null
        then coalesce(round(x.paid_cents / nullif(p.quantity, 0)::numeric)::int, 50)
      when p.side = 'yes' then x.yes_price_cents
      else 100 - x.yes_price_cents
    end as mark_price_cents
) as y
cross join lateral (
  select
    y.mark_price_cents,
    case when x.yes_price_cents is null then x.paid_cents
      else p.quantity::bigint * y.mark_price_cents end as value_cents
) as v;

comment on view analytics.positions is
  'Shares of each trader by market and side. Empty positions stay, and so do settled ones with '
  'their quantity and cost: sum the columns that begin with open_, mark_value_cents and '
  'unrealised_cents over what is still held. realised_cents + unrealised_cents, summed over a '
  'trader''s positions, is cash + mark_value_cents - net deposits.';
comment on column analytics.positions.position_id is 'Public id.';
comment on column analytics.positions.market_key is 'The market: internal key, for joins.';
comment on column analytics.positions.market_id is 'The market: public id.';
comment on column analytics.positions.user_key is 'The user: internal key, for joins.';
comment on column analytics.positions.user_id is 'The user: public id.';
comment on column analytics.positions.side is 'yes or no.';
comment on column analytics.positions.quantity is
  'Shares held; once settled, the shares that were paid.';
comment on column analytics.positions.is_settled is
  'Whether the market is resolved, and the shares are paid and gone.';
comment on column analytics.positions.open_quantity is 'Shares still held; 0 once settled.';
comment on column analytics.positions.cost_cents is
  'What was paid for the quantity, without fees.';
comment on column analytics.positions.fee_cents is 'The buy fees paid for the quantity.';
comment on column analytics.positions.open_cost_cents is
  'What was paid for the shares still held, buy fees included; 0 once settled.';
comment on column analytics.positions.realised_cents is
  'What selling, merging and settlement have realised in this position so far, corrections '
  'included: what they brought less fees, and less what the shares had cost with their buy fees.';
comment on column analytics.positions.has_traded is
  'Whether a match, and not only a split, ever moved it.';
comment on column analytics.positions.mark_price_cents is
  'What a share was paid by the resolution; before it, the price of the last trade; before the '
  'first trade what a share has cost, rounded: 50 in a pair, less or more after a conversion.';
comment on column analytics.positions.mark_value_cents is
  'The shares still held at that price, before the first trade what they have cost with their '
  'buy fees; 0 once settled.';
comment on column analytics.positions.unrealised_cents is
  'mark_value_cents - open_cost_cents: what the shares still held would bring beyond cost and '
  'buy fees, without the fee of selling; 0 once settled.';
