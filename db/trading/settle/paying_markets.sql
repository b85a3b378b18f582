create or replace function trading.paying_markets(market_id bigint)
returns table (id bigint, title text, yes_payout_cents int)
language sql stable
begin atomic
  select m.id, m.title, m.yes_payout_cents
  from catalog.markets as x
  join catalog.events as e on e.id = x.event_id and e.exclusive
  join catalog.markets as m on m.event_id = x.event_id
  where x.id = paying_markets.market_id
    and m.id <> x.id
    and m.yes_payout_cents > 0
    and not exists (
      select
      from trading.voids as v
      where v.market_id = m.id
        and v.trade_id is null
    );
end;

comment on function trading.paying_markets(bigint) is
  'The other markets of the exclusive event of a market whose YES shares pay, with what they pay, '
  '1 to 100 cents. A voided market pays nothing.';
