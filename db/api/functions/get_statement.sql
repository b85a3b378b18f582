create or replace function api.get_statement(
  user_id uuid,
  most int,
  cursor text default null,
  since timestamptz default null,
  until timestamptz default null
)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
--!include planner/indexes.sql
as $$
declare
  -- Entries looked at, at most, for a time that is long ago: the next page goes on.
  c_window constant int := 5000;
  v_before_id bigint := coalesce(
    split_part(get_statement.cursor, '.', 1)::bigint, 9223372036854775807
  );
  v_before_version bigint := coalesce(
    split_part(get_statement.cursor, '.', 2)::bigint, 9223372036854775807
  );
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = get_statement.user_id
  );
  v_account_id bigint := ledger.user_account_id(v_user_id);
  v_limit int := case
    when get_statement.until is null then get_statement.most + 1 else c_window
  end;
begin
  -- The user is given as a range: an equality would let the planner walk the primary key, past the
  -- trades of all others.
  return (
    with seen as materialized (
      select x.*
      from (
        (
          select
            e.journal_id, e.account_version as version, e.amount_cents, e.balance_after_cents,
            j.kind, j.market_id, null::uuid as trade_id, j.created_at
          from ledger.posted_entries as e
          cross join lateral (
            select y.* from ledger.posted_journals as y where y.id = e.journal_id limit 1
          ) as j
          where e.account_id = v_account_id
            and e.account_version < v_before_version
          order by e.account_version desc
          limit v_limit
        )
        union all
        (
          select
            t.id, t.taker_version, t.taker_cents, t.taker_balance_cents,
            'trade'::ledger.journal_kind, t.market_id, t.public_id, t.created_at
          from trading.trades as t
          where (t.taker_user_id, t.id) < (v_user_id, v_before_id)
            and t.taker_user_id >= v_user_id
            and t.taker_cents <> 0
          order by t.taker_user_id desc, t.id desc
          limit v_limit
        )
        union all
        (
          select
            t.id, t.maker_version, t.maker_cents, t.maker_balance_cents,
            'trade'::ledger.journal_kind, t.market_id, t.public_id, t.created_at
          from trading.trades as t
          where (t.maker_user_id, t.id) < (v_user_id, v_before_id)
            and t.maker_user_id >= v_user_id
            and t.maker_cents <> 0
          order by t.maker_user_id desc, t.id desc
          limit v_limit
        )
      ) as x
      order by x.version desc
      limit v_limit
    ),
    picked as materialized (
      select s.*, row_number() over (order by s.version desc) as place
      from seen as s
      where (get_statement.since is null or s.created_at >= get_statement.since)
        and (get_statement.until is null or s.created_at < get_statement.until)
      order by s.version desc
      limit get_statement.most + 1
    )
    select json_build_object(
      'data', coalesce(
        json_agg(
          json_build_object(
            'id', p.version,
            'kind', p.kind,
            'amountCents', p.amount_cents,
            'balanceAfter', p.balance_after_cents,
            'marketId', m.public_id,
            'tradeId', coalesce(p.trade_id, v.public_id),
            'reference', c.reference,
            'createdAt', core.iso8601(p.created_at)
          )
          order by p.version desc
        ) filter (where p.place <= get_statement.most),
        '[]'
      ),
      'nextCursor', case
        when max(p.place) > get_statement.most then (
          select x.journal_id || '.' || x.version
          from picked as x
          where x.place = get_statement.most
        )
        -- Nothing more is in the time asked for once entries are older than it.
        when (select count(*) from seen) = v_limit then (
          select case
            when get_statement.since is null or y.created_at >= get_statement.since
            then y.journal_id || '.' || y.version
          end
          from seen as y
          order by y.version
          limit 1
        )
      end
    )
    from picked as p
    left join lateral (
      select t.public_id
      from trading.voids as x
      cross join lateral (
        select y.public_id from trading.trades as y where y.id = x.trade_id limit 1
      ) as t
      where x.market_id = p.market_id
        and x.journal_id = p.journal_id
      limit 1
    ) as v on p.kind = 'void'
    left join lateral (
      select z.public_id from catalog.markets as z where z.id = p.market_id limit 1
    ) as m on true
    left join lateral (
      select w.reference from ledger.cash_movements as w where w.journal_id = p.journal_id limit 1
    ) as c on p.kind in ('deposit', 'withdrawal', 'bonus', 'adjustment', 'reversal')
  );
end
$$;

comment on function api.get_statement(uuid, int, text, timestamptz, timestamptz) is
  'The body of GET /me/statement: the entries of a user''s account in the ledger, newest first. id '
  'is the number of the entry in the account, from 1 and without a gap. cursor is the nextCursor '
  'of the page before. With until, a page is shorter than most and still has a nextCursor when '
  '5,000 entries were looked at.';
