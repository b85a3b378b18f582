create or replace function risk.net_spent_since(trader trading.traders, day date)
returns bigint
language sql stable
return coalesce(
  (
    select ((trader).external_cents - (trader).balance_cents)
      - (o.external_cents - o.balance_cents)
    from ledger.day_openings as o
    where o.user_id = (trader).user_id
      and o.day >= net_spent_since.day
    order by o.day
    limit 1
  ),
  0
);

comment on function risk.net_spent_since(trading.traders, date) is
  'Net cash a user has put into trading since the start of a UTC day, in cents: buys, fees and '
  'splits less sells, merges and settlements. Negative when more came out than went in.';
