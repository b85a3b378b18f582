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
  v_after_trade_id constant bigint := ledger.trade_before(v_from);
  v_before_trade_id constant bigint := ledger.trade_after(v_until);
  v_user_id constant bigint := identity.user_id(get_year_statement.user_id);
  v_account_id constant bigint := ledger.user_account_id(v_user_id);
begin
  -- One statement, so that all figures are of one moment.
  return (
    with trades as (
      select t.taker_cents as cents
      from trading.trades as t
      where (t.taker_user_id, t.id) > (v_user_id, v_after_trade_id)
        and (t.taker_user_id, t.id) < (v_user_id, v_before_trade_id)
        and t.created_at >= v_from
        and t.created_at < v_until
      union all
      select t.maker_cents
      from trading.trades as t
      where (t.maker_user_id, t.id) > (v_user_id, v_after_trade_id)
        and (t.maker_user_id, t.id) < (v_user_id, v_before_trade_id)
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
          -- Compared as rows, so that no plan walks the entries of all accounts by journal.
          and (e.account_id, e.journal_id) > (v_account_id, v_after_trade_id)
          and (e.account_id, e.journal_id) < (v_account_id, v_before_trade_id)
          and j.created_at >= v_from
          and j.created_at < v_until
      ) as x
      group by x.kind
    ),
    markets as materialized (
      select * from trading.results_between(v_user_id, v_from, v_until)
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
  'with all movements is the closing one, unless the clock was stepped back over one of these '
  'midnights. In a year that has not ended the closing balance is the present one. '
  'Results: trading.results_between. '
  'Cost: the user''s trades of the year, and their entries that are not of trades.';
