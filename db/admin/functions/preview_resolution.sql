create or replace function admin.preview_resolution(
  market_id uuid, outcome text, yes_payout_cents int default null
)
returns table (
  user_id uuid, side text, quantity bigint, payout_cents bigint, realised_pnl_cents bigint
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_yes_payout_cents constant int := trading.yes_payout_cents(
    preview_resolution.outcome, preview_resolution.yes_payout_cents
  );
  v_market_id constant bigint := catalog.market_id(preview_resolution.market_id);
begin
  perform admin.audit('preview_resolution', jsonb_build_object(
    'market_id', preview_resolution.market_id,
    'outcome', preview_resolution.outcome,
    'yes_payout_cents', preview_resolution.yes_payout_cents
  ));
  return query
  select u.public_id, p.side::text, p.quantity, p.payout_cents, p.realised_cents
  from trading.payouts(v_market_id, v_yes_payout_cents) as p
  join identity.users as u on u.id = p.user_id
  order by p.user_id, p.side;
end
$$;

comment on function admin.preview_resolution(uuid, text, int) is
  'What resolving a market would pay each position, and what that would realise: payout less cost '
  'and buy fees. For a resolved market: the figures with which a correction would replace the '
  'present ones. Changes nothing and locks nothing. Errors: INVALID_REQUEST, NOT_FOUND.';
