create or replace view analytics.open_interest as
select
  m.id as market_key,
  m.public_id as market_id,
  h.pair_count,
  h.yes_holder_count,
  h.no_holder_count,
  s.escrow_cents::bigint as escrow_cents
from catalog.markets as m
left join trading.market_state as s on s.market_id = m.id
cross join lateral (
  select
    coalesce(sum(h.no_quantity), 0)::bigint as pair_count,
    count(*) filter (where h.yes_quantity > 0) as yes_holder_count,
    count(*) filter (where h.no_quantity > 0) as no_holder_count
  from trading.holdings as h
  where h.market_id = m.id
    and m.status <> 'resolved'
) as h;

comment on view analytics.open_interest is
  'How many pairs of shares are held in each market, and by how many users. All 0 once the market '
  'is resolved: its shares are paid and gone.';
comment on column analytics.open_interest.market_key is 'The market: internal key, for joins.';
comment on column analytics.open_interest.market_id is 'The market: public id.';
comment on column analytics.open_interest.pair_count is
  'Pairs of a YES and a NO share that are held: the NO shares. There are as many YES shares, but '
  'in an exclusive event in which shares were converted.';
comment on column analytics.open_interest.yes_holder_count is 'Users who hold YES shares.';
comment on column analytics.open_interest.no_holder_count is 'Users who hold NO shares.';
comment on column analytics.open_interest.escrow_cents is
  'Cash that backs the shares: 100 cents a pair. The escrow of an exclusive event backs what was '
  'converted.';
