create or replace function trading.void_trade(trade_id uuid, reason text)
returns jsonb
language plpgsql
as $$
declare
  v_at timestamptz;
  v_trade trading.trades;
  v_maker_side trading.side;
  v_taker_realised_cents bigint;
  v_maker_realised_cents bigint;
  v_outside_cents bigint;
  v_journal_id bigint;
begin
  select t.* into v_trade
  from trading.trades as t
  where t.public_id = void_trade.trade_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format(
      'There is no trade %s', coalesce(void_trade.trade_id::text, 'null')
    ));
  end if;
  perform ledger.lock_outside_world();
  perform trading.lock_market(v_trade.market_id);
  v_at := core.now();
  if exists (select from trading.voids as v where v.trade_id = v_trade.id) then
    perform core.raise_error('INVALID_STATE', 'The trade is voided already');
  elsif exists (
    select from catalog.markets as m where m.id = v_trade.market_id and m.status = 'resolved'
  ) then
    perform core.raise_error(
      'INVALID_STATE', 'The market is resolved: its trades can only be voided all together'
    );
  end if;
  perform trading.lock_traders(array[v_trade.taker_user_id, v_trade.maker_user_id]);

  -- Who sells has shares of the other side than that of the book.
  v_maker_side := case v_trade.taker_side when 'yes' then 'no' else 'yes' end::trading.side;
  v_taker_realised_cents := trading.void_fill(
    v_trade.market_id, v_trade.taker_user_id,
    case when v_trade.taker_realised_cents is null then v_trade.taker_side else v_maker_side end,
    v_trade.quantity, v_trade.taker_cents, v_trade.taker_realised_cents
  );
  v_maker_realised_cents := trading.void_fill(
    v_trade.market_id, v_trade.maker_user_id,
    case when v_trade.maker_realised_cents is null then v_maker_side else v_trade.taker_side end,
    v_trade.quantity, v_trade.maker_cents, v_trade.maker_realised_cents
  );

  select greatest(0, v_trade.fee_cents - s.revenue_cents) into strict v_outside_cents
  from trading.market_state as s
  where s.market_id = v_trade.market_id;
  select ledger.post_journal(
    'void', v_trade.market_id, array_agg(l.account_id), array_agg(l.amount_cents), v_at
  )
  into v_journal_id
  from (
    values
      (ledger.user_account_id(v_trade.taker_user_id), -v_trade.taker_cents),
      (ledger.user_account_id(v_trade.maker_user_id), -v_trade.maker_cents),
      (
        ledger.escrow_account_id(v_trade.market_id),
        v_trade.taker_cents + v_trade.maker_cents + v_trade.fee_cents
      ),
      (ledger.revenue_account_id(v_trade.market_id), v_outside_cents - v_trade.fee_cents),
      (ledger.outside_account_id(), -v_outside_cents)
  ) as l (account_id, amount_cents)
  where l.amount_cents <> 0;
  insert into trading.voids (
    market_id, trade_id, journal_id, taker_realised_cents, maker_realised_cents, fee_cents,
    outside_cents, reason, created_at
  )
  values (
    v_trade.market_id, v_trade.id, v_journal_id, v_taker_realised_cents, v_maker_realised_cents,
    v_trade.fee_cents, v_outside_cents, void_trade.reason, v_at
  );

  return (
    select jsonb_build_object(
      'marketId', m.public_id,
      'quantity', v_trade.quantity,
      'takerId', t.public_id,
      'takerCents', -v_trade.taker_cents,
      'makerId', k.public_id,
      'makerCents', -v_trade.maker_cents,
      'feeCents', v_trade.fee_cents,
      'usersBelowZero', (t.balance_cents < 0)::int + (k.balance_cents < 0)::int
    )
    from catalog.markets as m
    join trading.traders as t on t.user_id = v_trade.taker_user_id
    join trading.traders as k on k.user_id = v_trade.maker_user_id
    where m.id = v_trade.market_id
  );
end
$$;

comment on function trading.void_trade(uuid, text) is
  'Undoes a trade in a market that is not resolved: cash, fee and shares go back; returns the '
  'operator''s summary. A user may go below zero. Errors: NOT_FOUND, INVALID_STATE (voided '
  'already, market resolved), INSUFFICIENT_BALANCE (bought shares are gone), UNFIT_SESSION. '
  'Locks: the outside world, the market, then both users.';
