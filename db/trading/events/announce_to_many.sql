create or replace function trading.announce_to_many(
  kind text, payload jsonb, user_ids bigint[], balances_cents bigint[] default null
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into trading.outbox (channel, payload, user_ids)
  select
    announce_to_many.kind,
    (
      announce_to_many.payload || case
        when announce_to_many.balances_cents is null then '{}'
        else jsonb_build_object('balances', jsonb_agg(u.balance_cents order by u.user_id))
      end
    )::json,
    array_agg(u.user_id order by u.user_id)
  from (
    select x.user_id, x.balance_cents, row_number() over (order by x.user_id) as place
    from unnest(announce_to_many.user_ids, announce_to_many.balances_cents)
      as x (user_id, balance_cents)
  ) as u
  group by (u.place - 1) / 1000
  order by (u.place - 1) / 1000
$$;

comment on function trading.announce_to_many(text, jsonb, bigint[], bigint[]) is
  'Writes an event for many users to the outbox: a row for each 1,000 of them, in ascending order.';
