create or replace function trading.read_money(context trading.market_context)
returns trading.market_money
language plpgsql
set search_path = ''
as $$
declare
  v_money trading.market_money;
begin
  select
    f.taker_rate_bps, f.id,
    escrow.id, escrow.balance_cents, escrow.version,
    revenue.id, revenue.balance_cents, revenue.version
  into v_money
  from trading.books as b
  join ledger.accounts as escrow on escrow.id = b.escrow_account_id
  join ledger.accounts as revenue on revenue.id = b.fee_account_id
  cross join lateral trading.fee_schedule_in_force(
    context.market_id, context.category_id, context.at
  ) as f
  where b.market_id = context.market_id;
  return v_money;
end
$$;

comment on function trading.read_money(trading.market_context) is
  'The fee in force and the accounts of a market. To be called under the market''s lock.';
