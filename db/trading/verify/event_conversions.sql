create or replace function trading.event_conversions()
returns table (market_id bigint, more_yes_quantity bigint)
language sql stable
begin atomic
  select c.market_id, sum(case c.kind when 'convert' then c.quantity else -c.quantity end)
  from trading.set_conversions as c
  where c.side is not null
  group by c.market_id;
end;

comment on function trading.event_conversions() is
  'How many more YES than NO shares the conversions of exclusive events have left in each of their '
  'markets, for ledger.verify(): the same in all markets of an event, below zero if redeems took '
  'more YES shares than conversions made.';
