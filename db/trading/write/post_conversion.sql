create or replace function trading.post_conversion(
  markets trading.markets_read,
  traders trading.traders_read,
  at timestamptz,
  kind trading.conversion_kind,
  quantity int,
  yes_realised_cents bigint,
  no_realised_cents bigint
)
returns text
language plpgsql
as $$
declare
  v_cents constant bigint := 100 * post_conversion.quantity
    * case post_conversion.kind when 'split' then -1 else 1 end;
  v_journal_id bigint;
  v_body text;
begin
  v_journal_id := ledger.post_journal(
    post_conversion.kind::text::ledger.journal_kind,
    markets.id[1],
    array[
      ledger.user_account_id(traders.user_ids[1]), ledger.escrow_account_id(markets.id[1])
    ],
    array[v_cents, -v_cents],
    post_conversion.at
  );
  insert into trading.set_conversions (
    market_id, user_id, kind, quantity, yes_realised_cents, no_realised_cents, journal_id,
    created_at
  )
  values (
    markets.id[1], traders.user_ids[1], post_conversion.kind, post_conversion.quantity,
    post_conversion.yes_realised_cents, post_conversion.no_realised_cents, v_journal_id,
    post_conversion.at
  );

  select format(
    '{"marketId":"%s","quantity":%s,"balance":%s,"positions":%s}',
    markets.public_id[1],
    post_conversion.quantity,
    trading.balance_object(traders.balances_cents[1] + v_cents),
    coalesce(
      json_agg(
        trading.position_object(p, m, s.last_trade_price) order by p.side
      ) filter (where p.quantity > 0),
      '[]'
    )
  )
  into v_body
  from catalog.markets as m
  join trading.market_state as s on s.market_id = m.id
  left join trading.positions as p
    on p.market_id = m.id and p.user_id = traders.user_ids[1]
  where m.id = markets.id[1];
  return v_body;
end
$$;

comment on function trading.post_conversion(
  trading.markets_read, trading.traders_read, timestamptz, trading.conversion_kind, int, bigint,
  bigint
) is
  'Writes what a split or a merge of complete sets does beside the positions: cash to escrow or '
  'back, and the row of trading.set_conversions; returns the body of the answer. traders is the '
  'one trader, locked.';
