create or replace function trading.read_share_arrays(holdings trading.holding_arrays)
returns trading.share_arrays
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select (
      array_agg(s.quantity), array_agg(s.cost_cents), array_agg(s.fee_cents),
      array_agg(s.realised_cents)
    )::trading.share_arrays
    from unnest(read_share_arrays.holdings.holdings) as h
    cross join lateral (
      values
        (
          h.yes_quantity::bigint, h.yes_cost_cents::bigint, h.yes_fee_cents::bigint,
          h.yes_realised_cents
        ),
        (h.no_quantity, h.no_cost_cents, h.no_fee_cents, h.no_realised_cents)
    ) as s (quantity, cost_cents, fee_cents, realised_cents)
  );
end
$$;

comment on function trading.read_share_arrays(trading.holding_arrays) is
  'The holdings of a batch as matching and accounting read them.';
