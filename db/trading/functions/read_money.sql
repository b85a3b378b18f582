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
  -- The market's own schedule, else its category's, else the default; of these the latest.
  join trading.fee_schedules as f on f.id = coalesce(
    (
      select s.id
      from trading.fee_schedules as s
      where s.market_id = context.market_id
        and s.category_id is null
        and s.effective_from <= context.at
      order by s.effective_from desc, s.id desc
      limit 1
    ),
    (
      select s.id
      from trading.fee_schedules as s
      where s.market_id is null
        and s.category_id = context.category_id
        and s.effective_from <= context.at
      order by s.effective_from desc, s.id desc
      limit 1
    ),
    (
      select s.id
      from trading.fee_schedules as s
      where s.market_id is null
        and s.category_id is null
        and s.effective_from <= context.at
      order by s.effective_from desc, s.id desc
      limit 1
    )
  )
  where b.market_id = context.market_id;
  return v_money;
end
$$;

comment on function trading.read_money(trading.market_context) is
  'The fee in force and the accounts of a market. To be called under the market''s lock.';
