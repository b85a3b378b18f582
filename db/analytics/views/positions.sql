create view analytics.positions as
select
  p.public_id as position_id,
  p.market_id as market_key,
  m.public_id as market_id,
  p.user_id as user_key,
  u.public_id as user_id,
  p.side::text as side,
  p.quantity::bigint as quantity,
  p.cost_cents::bigint as cost_cents,
  p.fee_cents::bigint as fee_cents,
  p.realised_cents,
  p.has_traded,
  case
    when p.side = 'yes' then coalesce(m.yes_payout_cents, b.last_trade_price)
    else 100 - coalesce(m.yes_payout_cents, b.last_trade_price)
  end as mark_price_cents,
  p.quantity * case
    when p.side = 'yes' then coalesce(m.yes_payout_cents, b.last_trade_price)
    else 100 - coalesce(m.yes_payout_cents, b.last_trade_price)
  end as mark_value_cents
from trading.positions as p
left join catalog.markets as m on m.id = p.market_id
left join trading.books as b on b.market_id = p.market_id
left join identity.users as u on u.id = p.user_id;

comment on view analytics.positions is 'Shares of each trader by market and side, empty ones too.';
comment on column analytics.positions.position_id is 'Public id.';
comment on column analytics.positions.market_key is 'The market: internal key, for joins.';
comment on column analytics.positions.market_id is 'The market: public id.';
comment on column analytics.positions.user_key is 'The user: internal key, for joins.';
comment on column analytics.positions.user_id is 'The user: public id.';
comment on column analytics.positions.side is 'yes or no.';
comment on column analytics.positions.quantity is 'Shares held.';
comment on column analytics.positions.cost_cents is 'What was paid for them, without fees.';
comment on column analytics.positions.fee_cents is 'The buy fees paid for them.';
comment on column analytics.positions.realised_cents is
  'What selling, merging and settlements have realised in this position so far.';
comment on column analytics.positions.has_traded is
  'Whether a match, and not only a split, ever moved it.';
comment on column analytics.positions.mark_price_cents is
  'What a share is worth by the last trade, or was paid by the resolution; null without either.';
comment on column analytics.positions.mark_value_cents is 'The shares held at that price.';
