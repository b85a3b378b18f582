create or replace function trading.changed_holdings(
  holdings trading.holding_arrays, shares trading.share_arrays, traded boolean[]
)
returns trading.holdings[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  s_quantity constant bigint[] := shares.quantities;
  s_cost constant bigint[] := shares.costs_cents;
  s_fee constant bigint[] := shares.fees_cents;
  s_realised constant bigint[] := shares.realised_cents;
begin
  return array(
    select (
      h.market_id, h.user_id,
      case when y.traded then coalesce(h.yes_public_id, core.uuid_v7()) else h.yes_public_id end,
      s_quantity[y.place], s_cost[y.place], s_fee[y.place], s_realised[y.place],
      h.yes_traded or y.traded,
      case when n.traded then coalesce(h.no_public_id, core.uuid_v7()) else h.no_public_id end,
      s_quantity[n.place], s_cost[n.place], s_fee[n.place], s_realised[n.place],
      h.no_traded or n.traded
    )::trading.holdings
    from unnest(changed_holdings.holdings.holdings) with ordinality as h
    cross join lateral (
      select 2 * h.ordinality - 1, changed_holdings.traded[2 * h.ordinality - 1]
    ) as y (place, traded)
    cross join lateral (
      select 2 * h.ordinality, changed_holdings.traded[2 * h.ordinality]
    ) as n (place, traded)
    where y.traded or n.traded
  );
end
$$;

comment on function trading.changed_holdings(
  trading.holding_arrays, trading.share_arrays, boolean[]
) is
  'The holdings of a batch as they are to be written, those alone whose shares traded. shares is '
  'what there is after the batch. A side that trades for the first time gets its public id here.';
