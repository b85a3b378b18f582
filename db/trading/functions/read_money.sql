create or replace function trading.read_money(
  market_id bigint, category_id bigint, at timestamptz
)
returns setof trading.market_money
language sql stable
begin atomic
  select
    f.taker_rate_bps, f.id,
    escrow.id, escrow.balance_cents, escrow.version,
    revenue.id, revenue.balance_cents, revenue.version
  from trading.market_state as b
  join ledger.accounts as escrow on escrow.id = b.escrow_account_id
  join ledger.accounts as revenue on revenue.id = b.fee_account_id
  cross join trading.fee_in_force(
    read_money.market_id, read_money.category_id, read_money.at
  ) as f
  where b.market_id = read_money.market_id;
end;

comment on function trading.read_money(bigint, bigint, timestamptz) is
  'The fee in force and the accounts of a market: one row, or none for an unknown market. To be '
  'called under the market''s lock.';
