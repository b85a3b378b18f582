create or replace function admin.audit_closings(summary jsonb, decided_by_market_id uuid)
returns jsonb
language plpgsql volatile
as $$
declare
  v_closed jsonb;
begin
  for v_closed in
    select c.market
    from jsonb_array_elements(audit_closings.summary -> 'closedMarkets') as c (market)
  loop
    perform admin.audit('set_market_status', jsonb_build_object(
      'market_id', v_closed -> 'marketId',
      'status', 'closed',
      'close_time', v_closed -> 'closeTime',
      'decided_by_market_id', audit_closings.decided_by_market_id
    ));
  end loop;
  return audit_closings.summary || case
    when audit_closings.summary ? 'closedMarkets' then jsonb_build_object(
      'closedMarkets', jsonb_array_length(audit_closings.summary -> 'closedMarkets')
    )
    else '{}'
  end;
end
$$;

comment on function admin.audit_closings(jsonb, uuid) is
  'Writes an audit row for each market that an outcome of another one of its exclusive event has '
  'closed, as for a call of admin.set_market_status, and returns the summary of the outcome with '
  'their number as closedMarkets. Private to the schema.';
