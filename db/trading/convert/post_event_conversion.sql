create or replace function trading.post_event_conversion(
  kind trading.conversion_kind,
  user_id bigint,
  event_id bigint,
  market_ids bigint[],
  given_ids bigint[],
  quantity int,
  cash_cents bigint,
  at timestamptz
)
returns void
language plpgsql
as $$
declare
  v_is_redeem constant boolean := post_event_conversion.kind = 'redeem';
  v_given_side constant trading.side := case
    when v_is_redeem then 'yes'::trading.side
    else 'no'
  end;
  v_set_cents constant bigint := 100 * post_event_conversion.quantity;
  v_value_cents bigint;
  v_journal_id bigint;
begin
  -- Escrow has 100 cents for each NO share. What is left of that for a conversion, 100 cents for a
  -- YES share of each market, the event keeps; a redeem takes it.
  select ledger.post_journal(
    post_event_conversion.kind::text::ledger.journal_kind, null,
    array_agg(l.account_id), array_agg(l.amount_cents), post_event_conversion.at
  )
  into v_journal_id
  from (
    select ledger.user_account_id(post_event_conversion.user_id), post_event_conversion.cash_cents
    union all
    select ledger.escrow_account_id(g.id), -v_set_cents
    from unnest(post_event_conversion.given_ids) as g (id)
    where not v_is_redeem
    union all
    select
      ledger.event_account_id(post_event_conversion.event_id),
      case when v_is_redeem then -v_set_cents else v_set_cents end
  ) as l (account_id, amount_cents)
  where l.amount_cents <> 0;

  -- The given shares bring what they had cost with their fees: the cash, and what the shares that
  -- come have cost. They bring more if the cash is more, and the cash alone if no shares come.
  select coalesce(sum(g.cost_out_cents + g.fee_out_cents), 0)::bigint into strict v_value_cents
  from trading.given_shares(
    post_event_conversion.user_id, post_event_conversion.given_ids, v_given_side,
    post_event_conversion.quantity
  ) as g;
  v_value_cents := case
    when post_event_conversion.given_ids = post_event_conversion.market_ids
      then post_event_conversion.cash_cents
    else greatest(v_value_cents, post_event_conversion.cash_cents)
  end;

  with
  legs as materialized (
    select
      u.id as market_id, u.is_given, g.cost_out_cents, g.fee_out_cents,
      case when u.is_given then v_given_side else 'yes' end as side,
      x.cents * u.place / u.leg_count - x.cents * (u.place - 1) / u.leg_count as cents
    from (
      select
        w.id, w.is_given, row_number() over (partition by w.is_given order by w.id) as place,
        count(*) over (partition by w.is_given) as leg_count
      from (
        select y.id, y.id = any (post_event_conversion.given_ids) as is_given
        from unnest(post_event_conversion.market_ids) as y (id)
      ) as w
    ) as u
    cross join lateral (
      select
        case
          when u.is_given then v_value_cents
          else v_value_cents - post_event_conversion.cash_cents
        end as cents
    ) as x
    left join trading.given_shares(
      post_event_conversion.user_id, post_event_conversion.given_ids, v_given_side,
      post_event_conversion.quantity
    ) as g on g.market_id = u.id
  ),
  noted as (
    insert into trading.set_conversions (
      market_id, user_id, kind, quantity, yes_realised_cents, no_realised_cents, journal_id,
      created_at, side, cents
    )
    select
      l.market_id, post_event_conversion.user_id, post_event_conversion.kind,
      post_event_conversion.quantity,
      case when l.is_given then
        case l.side when 'yes' then l.cents - l.cost_out_cents - l.fee_out_cents else 0 end
      end,
      case when l.is_given then
        case l.side when 'no' then l.cents - l.cost_out_cents - l.fee_out_cents else 0 end
      end,
      v_journal_id, post_event_conversion.at, l.side, l.cents
    from legs as l
  ),
  yes_given as (
    update trading.holdings as h set
      yes_quantity = h.yes_quantity - post_event_conversion.quantity,
      yes_cost_cents = h.yes_cost_cents - l.cost_out_cents,
      yes_fee_cents = h.yes_fee_cents - l.fee_out_cents,
      yes_realised_cents = h.yes_realised_cents + l.cents - l.cost_out_cents - l.fee_out_cents
    from legs as l
    where l.is_given
      and l.side = 'yes'
      and h.market_id = l.market_id
      and h.user_id = post_event_conversion.user_id
  ),
  no_given as (
    update trading.holdings as h set
      no_quantity = h.no_quantity - post_event_conversion.quantity,
      no_cost_cents = h.no_cost_cents - l.cost_out_cents,
      no_fee_cents = h.no_fee_cents - l.fee_out_cents,
      no_realised_cents = h.no_realised_cents + l.cents - l.cost_out_cents - l.fee_out_cents
    from legs as l
    where l.is_given
      and l.side = 'no'
      and h.market_id = l.market_id
      and h.user_id = post_event_conversion.user_id
  )
  insert into trading.holdings as h (
    market_id, user_id, yes_public_id, yes_quantity, yes_cost_cents
  )
  select
    l.market_id, post_event_conversion.user_id, core.uuid_v7(), post_event_conversion.quantity,
    l.cents
  from legs as l
  where not l.is_given
  on conflict on constraint holdings_pkey do update set
    yes_public_id = coalesce(h.yes_public_id, excluded.yes_public_id),
    yes_quantity = h.yes_quantity + excluded.yes_quantity,
    yes_cost_cents = h.yes_cost_cents + excluded.yes_cost_cents;
end
$$;

comment on function trading.post_event_conversion(
  trading.conversion_kind, bigint, bigint, bigint[], bigint[], int, bigint, timestamptz
) is
  'Writes a convert or a redeem of shares in an exclusive event: one journal, a row of '
  'trading.set_conversions for each market, and the positions. market_ids are all its markets, '
  'ascending, given_ids those of which shares are given. The caller has locked the event, its '
  'markets and the user.';
