-- In an exclusive event a NO share of a market is worth what YES shares of all others are.
create or replace function trading.convert_shares(
  user_id bigint, event_id bigint, market_public_ids uuid[], quantity int, is_preview boolean
)
returns core.result
language plpgsql
as $$
declare
  v_kind constant trading.conversion_kind := case
    when convert_shares.market_public_ids is null then 'redeem'::trading.conversion_kind
    else 'convert'
  end;
  v_problem constant text := coalesce(
    trading.market_ids_problem(convert_shares.market_public_ids),
    trading.set_quantity_problem(convert_shares.quantity)
  );
  v_at constant timestamptz := core.now();
  v_event catalog.events;
  v_market_ids bigint[];
  v_given_ids bigint[];
  v_is_resolved boolean;
  m trading.markets_read;
  v_traders trading.traders_read;
  v_cash_cents bigint;
  v_code text;
  v_body text;
begin
  select e.* into v_event from catalog.events as e where e.id = convert_shares.event_id;
  select
    array_agg(x.id order by x.id),
    array_agg(x.id order by x.id) filter (
      where v_kind = 'redeem' or x.public_id = any (convert_shares.market_public_ids)
    ),
    coalesce(bool_or(x.status = 'resolved'), false)
  into v_market_ids, v_given_ids, v_is_resolved
  from catalog.markets as x
  where x.event_id = convert_shares.event_id;
  m := trading.read_markets(coalesce(v_market_ids, array[null::bigint]), v_at);
  if not convert_shares.is_preview then
    perform trading.lock_traders(array[convert_shares.user_id]);
  end if;
  v_traders := trading.read_traders(array[convert_shares.user_id], v_at);

  v_code := case
    when v_problem is not null then 'INVALID_REQUEST'
    else coalesce(
      case
        when v_kind = 'convert' then trading.trader_rejection(
          m.site_paused, v_traders.user_ids is not null, v_traders.blocked_by[1]
        )
        when v_traders.user_ids is null then 'UNAUTHORIZED'
      end,
      case
        when v_event.id is null then 'NOT_FOUND'
        when not v_event.exclusive then 'NOT_EXCLUSIVE'
        when v_given_ids is null
          or v_kind = 'convert'
          and cardinality(v_given_ids) < cardinality(convert_shares.market_public_ids)
          then 'MARKET_NOT_FOUND'
        when v_is_resolved or v_kind = 'convert' and not (true = all (m.is_open))
          then 'MARKET_NOT_OPEN'
        when cardinality(v_given_ids) > (
          select count(*)
          from trading.given_shares(
            convert_shares.user_id, v_given_ids,
            case v_kind when 'redeem' then 'yes' else 'no' end::trading.side,
            convert_shares.quantity
          )
        ) then 'INSUFFICIENT_BALANCE'
      end
    )
  end;
  if v_code is not null then
    return (
      v_code,
      case v_code when 'NOT_FOUND' then 'Event not found' else v_problem end,
      false,
      null
    )::core.result;
  end if;

  v_cash_cents := 100 * convert_shares.quantity::bigint
    * case v_kind when 'redeem' then 1 else cardinality(v_given_ids) - 1 end;
  select format(
    '{"cashCents":%s,"positions":%s,"balance":%s}',
    v_cash_cents,
    coalesce(
      json_agg(
        json_build_object('marketId', x.public_id, 'side', p.side, 'quantity', p.quantity)
        order by x."position", x.id, p.side
      ) filter (where p.quantity > 0),
      '[]'
    ),
    trading.balance_object(v_traders.balances_cents[1] + v_cash_cents)
  )
  into strict v_body
  from catalog.markets as x
  left join trading.holdings as h on h.market_id = x.id and h.user_id = convert_shares.user_id
  cross join lateral (
    select
      coalesce(h.yes_quantity, 0) + case
        when v_kind = 'redeem' then -convert_shares.quantity
        when x.id = any (v_given_ids) then 0
        else convert_shares.quantity
      end,
      coalesce(h.no_quantity, 0) - case
        when v_kind = 'convert' and x.id = any (v_given_ids) then convert_shares.quantity
        else 0
      end
  ) as q (yes_quantity, no_quantity)
  cross join lateral (
    values ('yes'::trading.side, q.yes_quantity), ('no', q.no_quantity)
  ) as p (side, quantity)
  where x.event_id = convert_shares.event_id;

  if not convert_shares.is_preview then
    perform trading.post_event_conversion(
      v_kind, convert_shares.user_id, convert_shares.event_id, v_market_ids, v_given_ids,
      convert_shares.quantity, v_cash_cents, v_at
    );
  end if;
  return (null, null, false, v_body)::core.result;
end
$$;

comment on function trading.convert_shares(bigint, bigint, uuid[], int, boolean) is
  'Converts NO shares of the named markets of an exclusive event into YES shares of its other '
  'markets and 100 cents for each named one but the first; with null for the markets, redeems YES '
  'shares of all its markets for 100 cents: the body of POST /events/:id/convert or redeem, or a '
  'rejection. A preview only says what would be. The caller has locked the event and its markets, '
  'but for a preview. Locks: the user.';
