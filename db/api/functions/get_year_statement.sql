create or replace function api.get_year_statement(user_id uuid, year int)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/nested_loops.sql
as $$
declare
  v_first constant date := make_date(get_year_statement.year, 1, 1);
  v_next constant date := make_date(get_year_statement.year + 1, 1, 1);
  v_from constant timestamptz := v_first::timestamp at time zone 'UTC';
  v_until constant timestamptz := v_next::timestamp at time zone 'UTC';
  v_user_id constant bigint := identity.user_id(get_year_statement.user_id);
  v_account_id constant bigint := ledger.user_account_id(v_user_id);
begin
  -- One statement, so that all figures are of one moment.
  return (
    with trades as materialized (
      select t.market_id, t.taker_cents as cents, t.fee_cents::bigint as fee_cents,
        t.taker_realised_cents as realised_cents
      from trading.trades as t
      where t.taker_user_id = v_user_id
        and t.created_at >= v_from
        and t.created_at < v_until
      union all
      select t.market_id, t.maker_cents, 0, t.maker_realised_cents
      from trading.trades as t
      where t.maker_user_id = v_user_id
        and t.created_at >= v_from
        and t.created_at < v_until
    ),
    movements as (
      select x.kind, count(*) as entry_count, sum(x.cents)::bigint as cents
      from (
        select 'trade' as kind, t.cents
        from trades as t
        where t.cents <> 0
        union all
        select j.kind::text, e.amount_cents
        from ledger.posted_entries as e
        join ledger.posted_journals as j on j.id = e.journal_id
        where e.account_id = v_account_id
          and j.created_at >= v_from
          and j.created_at < v_until
      ) as x
      group by x.kind
    ),
    results as (
      select t.market_id, t.fee_cents, coalesce(t.realised_cents, 0) as realised_cents
      from trades as t
      union all
      select c.market_id, 0, c.yes_realised_cents + c.no_realised_cents
      from trading.set_conversions as c
      where c.user_id = v_user_id
        and c.yes_realised_cents is not null
        and c.created_at >= v_from
        and c.created_at < v_until
      union all
      -- A correction has the whole figures, so those that it corrects are taken back.
      select s.market_id, 0, x.sign * s.realised_cents
      from trading.settlements as s
      cross join lateral (
        select 1 as sign, r.created_at
        from trading.resolutions as r
        where r.id = s.resolution_id
        union all
        select -1, r.created_at
        from trading.resolutions as r
        where r.market_id = s.market_id
          and r.corrects_resolution_id = s.resolution_id
      ) as x
      where s.user_id = v_user_id
        and x.created_at >= v_from
        and x.created_at < v_until
      union all
      select v.market_id, 0,
        case t.taker_user_id when v_user_id then v.taker_realised_cents
          else v.maker_realised_cents end
      from trading.voids as v
      -- Few trades are voided. Each is looked up, and not every trade looked at.
      cross join lateral (
        select x.taker_user_id, x.maker_user_id
        from trading.trades as x
        where x.id = v.trade_id
        limit 1
      ) as t
      where v_user_id in (t.taker_user_id, t.maker_user_id)
        and v.created_at >= v_from
        and v.created_at < v_until
      union all
      select p.market_id, 0, - p.realised_cents
      from trading.voided_positions as p
      join trading.voids as v on v.id = p.void_id
      where p.user_id = v_user_id
        and v.created_at >= v_from
        and v.created_at < v_until
    ),
    markets as (
      select r.market_id, sum(r.fee_cents)::bigint as fee_cents,
        sum(r.realised_cents)::bigint as realised_cents
      from results as r
      group by r.market_id
    )
    select json_build_object(
      'year', get_year_statement.year,
      'openingCents', b.cents[1],
      'closingCents', b.cents[2],
      'feeCents', (select coalesce(sum(m.fee_cents), 0) from markets as m),
      'realisedCents', (select coalesce(sum(m.realised_cents), 0) from markets as m),
      'movements', (
        select coalesce(
          json_agg(
            json_build_object('kind', m.kind, 'count', m.entry_count, 'amountCents', m.cents)
            order by m.kind
          ),
          '[]'
        )
        from movements as m
      ),
      'markets', (
        select coalesce(
          json_agg(
            json_build_object(
              'marketId', c.public_id, 'marketTitle', c.title, 'feeCents', m.fee_cents,
              'realisedCents', m.realised_cents
            )
            order by c.title, c.public_id
          ),
          '[]'
        )
        from markets as m
        join catalog.markets as c on c.id = m.market_id
      )
    )
    from (
      select array_agg(
        coalesce(
          (
            select o.balance_cents
            from ledger.day_openings as o
            where o.user_id = v_user_id
              and o.day >= d.day
            order by o.day
            limit 1
          ),
          t.balance_cents
        )::bigint
        order by d.day
      ) as cents
      from trading.traders as t
      cross join (values (v_first), (v_next)) as d (day)
      where t.user_id = v_user_id
    ) as b
  );
end
$$;

comment on function api.get_year_statement(uuid, int) is
  'The body of GET /api/account/year-statement: the cash of a user at the start and the end of a '
  'calendar year (UTC), its movements by kind, and what each market brought. The opening balance '
  'with all movements is the closing one, which is the present one in a year that has not ended. '
  'Results count as in analytics.daily_trader_results: a correction or void on its own day. '
  'Cost: it looks at all of the user''s trades and entries.';
