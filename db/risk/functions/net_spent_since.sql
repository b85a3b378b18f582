create or replace function risk.net_spent_since(account ledger.accounts, day date)
returns bigint
language sql stable
return coalesce(
  (
    select ((account).external_cents - (account).balance_cents)
      - (o.external_cents - o.balance_cents)
    from ledger.day_openings as o
    where o.account_id = (account).id
      and o.day >= net_spent_since.day
    order by o.day
    limit 1
  ),
  0
);

comment on function risk.net_spent_since(ledger.accounts, date) is
  'Net cash a user has put into trading since the start of a UTC day, in cents: buys, fees and '
  'splits less sells, merges and settlements. Negative when more came out than went in.';
