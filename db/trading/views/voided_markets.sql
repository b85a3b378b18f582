-- There is one void for a market. They are grouped, so that the planner sees that, and drops a
-- left join of them where no column is asked for.
create or replace view trading.voided_markets as
select v.market_id, min(v.id) as void_id, min(v.created_at) as created_at
from trading.voids as v
where v.trade_id is null
group by v.market_id;

comment on view trading.voided_markets is 'The markets that were undone as a whole.';
comment on column trading.voided_markets.market_id is 'catalog.markets.id.';
comment on column trading.voided_markets.void_id is 'trading.voids.id.';
comment on column trading.voided_markets.created_at is 'When it happened.';
