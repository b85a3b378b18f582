create or replace function trading.write_trades(
  batch trading.matched_batch, accounted trading.accounted_batch
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_today constant date := (batch.at at time zone 'UTC')::date;
  v_user_ids constant bigint[] := (batch.traders).user_ids;
begin
  insert into trading.trades select t.* from unnest(accounted.trades) as t;

  insert into trading.holdings as h select x.* from unnest(accounted.holdings) as x
  on conflict (market_id, user_id) do update set
    yes_public_id = excluded.yes_public_id,
    yes_quantity = excluded.yes_quantity,
    yes_cost_cents = excluded.yes_cost_cents,
    yes_fee_cents = excluded.yes_fee_cents,
    yes_realised_cents = excluded.yes_realised_cents,
    yes_traded = excluded.yes_traded,
    no_public_id = excluded.no_public_id,
    no_quantity = excluded.no_quantity,
    no_cost_cents = excluded.no_cost_cents,
    no_fee_cents = excluded.no_fee_cents,
    no_realised_cents = excluded.no_realised_cents,
    no_traded = excluded.no_traded;

  -- By their ids and not by a join: no plan can do worse than look each up. The place of one among
  -- the sorted ids is its bucket.
  with moved as materialized (
    select u.id
    from unnest(
      v_user_ids, (batch.traders).account_versions, accounted.account_versions
    ) as u (id, version_before, version)
    where u.version <> u.version_before
  ),
  opened as (
    insert into ledger.day_openings (user_id, day, balance_cents, external_cents)
    select t.user_id, v_today, t.balance_cents, t.external_cents
    from trading.traders as t
    where t.user_id = any (array(select m.id from moved as m))
      and t.moved_on < v_today
  )
  update trading.traders as t set
    balance_cents = accounted.balances_cents[width_bucket(t.user_id, v_user_ids)],
    account_version = accounted.account_versions[width_bucket(t.user_id, v_user_ids)],
    overdraft_cents = least(
      t.overdraft_cents,
      greatest(0, -accounted.balances_cents[width_bucket(t.user_id, v_user_ids)])
    ),
    moved_on = greatest(t.moved_on, v_today)
  where t.user_id = any (array(select m.id from moved as m));
end
$$;

comment on function trading.write_trades(trading.matched_batch, trading.accounted_batch) is
  'Writes the trades of a batch with the cash and the shares of their traders.';
