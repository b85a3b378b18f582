create or replace function trading.void_fill(
  market_id bigint,
  user_id bigint,
  side trading.side,
  quantity int,
  cents bigint,
  realised_cents bigint
)
returns bigint
language plpgsql
as $$
declare
  v_position record;
  v_quantity int := void_fill.quantity;
  v_cost_cents bigint := void_fill.cents - void_fill.realised_cents;
  v_fee_cents bigint := 0;
  v_realised_cents bigint := -void_fill.realised_cents;
begin
  if void_fill.realised_cents is null then
    select p.quantity, p.cost_cents, p.fee_cents, u.public_id as user_id into strict v_position
    from trading.positions as p
    join identity.users as u on u.id = p.user_id
    where p.market_id = void_fill.market_id
      and p.user_id = void_fill.user_id
      and p.side = void_fill.side;
    if v_position.quantity < void_fill.quantity then
      perform core.raise_error('INSUFFICIENT_BALANCE', format(
        'User %s has only %s of the %s shares left', v_position.user_id, v_position.quantity,
        void_fill.quantity
      ));
    end if;
    v_quantity := -void_fill.quantity;
    v_cost_cents := -core.half_up(
      v_position.cost_cents * void_fill.quantity, v_position.quantity
    );
    v_fee_cents := -core.half_up(v_position.fee_cents * void_fill.quantity, v_position.quantity);
    v_realised_cents := -void_fill.cents + v_cost_cents + v_fee_cents;
  end if;

  update trading.holdings as h set
    yes_quantity = h.yes_quantity + v_quantity,
    yes_cost_cents = h.yes_cost_cents + v_cost_cents,
    yes_fee_cents = h.yes_fee_cents + v_fee_cents,
    yes_realised_cents = h.yes_realised_cents + v_realised_cents
  where void_fill.side = 'yes'
    and h.market_id = void_fill.market_id
    and h.user_id = void_fill.user_id;
  update trading.holdings as h set
    no_quantity = h.no_quantity + v_quantity,
    no_cost_cents = h.no_cost_cents + v_cost_cents,
    no_fee_cents = h.no_fee_cents + v_fee_cents,
    no_realised_cents = h.no_realised_cents + v_realised_cents
  where void_fill.side = 'no'
    and h.market_id = void_fill.market_id
    and h.user_id = void_fill.user_id;
  return v_realised_cents;
end
$$;

comment on function trading.void_fill(bigint, bigint, trading.side, int, bigint, bigint) is
  'Takes a fill out of the position of its user, and returns what that realises, in cents. side is '
  'that of the shares; cents is what the trade moved on the account; realised_cents null means '
  'that the user bought. Bought shares leave like sold ones, for what was paid with the fee. Sold '
  'shares come back with the cost and buy fees that left with them, both as cost, and the result '
  'of the sale is taken back. The caller holds the market''s lock. Error: INSUFFICIENT_BALANCE '
  '(bought shares are gone).';
