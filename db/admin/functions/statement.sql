create or replace function admin.statement(user_id uuid, from_day date, to_day date)
returns table (
  at timestamptz, kind text, amount_cents bigint, balance_cents bigint, market_title text,
  reference text
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_days constant int := 366;
  c_most_rows constant int := 20000;
  v_user_id constant bigint := identity.user_id(statement.user_id);
  v_account_id constant bigint := ledger.user_account_id(v_user_id);
  v_from timestamptz;
  v_until timestamptz;
  v_count bigint;
begin
  if (
    case when isfinite(statement.from_day) and isfinite(statement.to_day)
      then statement.to_day - statement.from_day between 0 and c_most_days - 1
    end
  ) is not true then
    perform core.raise_error('INVALID_REQUEST', format(
      'A statement is about 1 to %s days, the first one first', c_most_days
    ));
  end if;
  v_from := statement.from_day::timestamp at time zone 'UTC';
  v_until := (statement.to_day + 1)::timestamp at time zone 'UTC';
  perform admin.audit('statement', jsonb_build_object(
    'user_id', statement.user_id, 'from_day', statement.from_day, 'to_day', statement.to_day
  ));
  -- One statement, so that the balances and all movements are of one moment.
  return query
  with lines as (
    select
      e.account_version as version, j.created_at, j.kind::text as kind, e.amount_cents,
      e.balance_after_cents, j.market_id,
      case j.kind
        when 'void' then (
          select (select t.public_id::text from trading.trades as t where t.id = v.trade_id)
          from trading.voids as v
          where v.market_id = j.market_id
            and v.journal_id = j.id
        )
        else c.reference
      end as reference
    from ledger.posted_entries as e
    join ledger.posted_journals as j on j.id = e.journal_id
    left join ledger.cash_movements as c on c.journal_id = j.id
    where e.account_id = v_account_id
    union all
    select
      t.taker_version, t.created_at, 'trade', t.taker_cents, t.taker_balance_cents, t.market_id,
      t.public_id::text
    from trading.trades as t
    where t.taker_user_id = v_user_id
      and t.taker_cents <> 0
    union all
    select
      t.maker_version, t.created_at, 'trade', t.maker_cents, t.maker_balance_cents, t.market_id,
      t.public_id::text
    from trading.trades as t
    where t.maker_user_id = v_user_id
      and t.maker_cents <> 0
  ),
  balances as (
    select
      b.kind, b.at, b.version,
      coalesce(
        (
          select o.balance_cents
          from ledger.day_openings as o
          where o.user_id = v_user_id
            and o.day >= b.day
          order by o.day
          limit 1
        ),
        t.balance_cents
      )::bigint as balance_cents
    from trading.traders as t
    cross join lateral (
      values
        ('opening', v_from, statement.from_day, 0::bigint),
        ('closing', v_until, statement.to_day + 1, 9223372036854775807)
    ) as b (kind, at, day, version)
    where t.user_id = v_user_id
  )
  select x.at, x.kind, x.amount_cents, x.balance_cents, m.title, x.reference
  from (
    select b.version, b.at, b.kind, 0::bigint as amount_cents, b.balance_cents,
      null::bigint as market_id, null::text as reference
    from balances as b
    union all
    select l.version, l.created_at, l.kind, l.amount_cents, l.balance_after_cents, l.market_id,
      l.reference
    from lines as l
    where l.created_at >= v_from
      and l.created_at < v_until
  ) as x
  left join catalog.markets as m on m.id = x.market_id
  order by x.version;
  get diagnostics v_count = row_count;
  if v_count > c_most_rows then
    perform core.raise_error('INVALID_REQUEST', format(
      'The statement has %s rows, and may have %s: take fewer days', v_count, c_most_rows
    ));
  end if;
end
$$;

comment on function admin.statement(uuid, date, date) is
  'The cash of a user from the start of one day (UTC) to the end of another, at most 366 days '
  'and 20,000 rows: the opening balance, each movement in the order in which it was booked, with '
  'the balance after it, and the closing balance, which is the present one if the last day has '
  'not ended. kind is opening, closing, or that of the journal; reference is that of a deposit, '
  'withdrawal, bonus, adjustment or reversal; of a trade, and of the void of one, it is the id of '
  'the trade. It reads all of the user''s entries. Errors: INVALID_REQUEST, NOT_FOUND.';
