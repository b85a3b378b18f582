-- By side, as the primary key has them: on an empty table the planner may choose the index by user,
-- and keep to it.
create or replace function trading.event_of_many(event trading.sent_events, user_id bigint)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case event_of_many.event.kind
    when 'market_status' then json_build_object(
      'type', 'market_status',
      'marketId', event_of_many.event.payload -> 'marketId',
      'status', event_of_many.event.payload -> 'status'
    )
    when 'market_settled' then json_build_object(
      'type', 'settled',
      'marketId', event_of_many.event.payload -> 'marketId',
      'outcome', event_of_many.event.payload -> 'outcome',
      'payoutCents', (
        select sum(x.payout_cents)
        from (
          select s.payout_cents
          from trading.settlements as s
          where s.resolution_id = (event_of_many.event.payload ->> 'resolutionId')::bigint
            and s.user_id = event_of_many.user_id
          order by s.side
          limit 2
        ) as x
      ),
      'balance', event_of_many.event.payload -> 'balances' -> (
        array_position(event_of_many.event.user_ids, event_of_many.user_id) - 1
      )
    )
  end
$$;

comment on function trading.event_of_many(trading.sent_events, bigint) is
  'What one of the users of an event for many gets.';
