create or replace function trading.check_exclusive_change(event_id bigint, added int)
returns void
language plpgsql
as $$
declare
  -- A conversion locks and pays all of them.
  c_most constant int := 500;
  v_title text;
begin
  if (
    select count(*) from catalog.markets as m where m.event_id = check_exclusive_change.event_id
  ) + check_exclusive_change.added > c_most then
    perform core.raise_error(
      'INVALID_STATE', format('An exclusive event has at most %s markets', c_most)
    );
  end if;
  select m.title into v_title
  from catalog.markets as m
  join trading.market_state as s on s.market_id = m.id
  where m.event_id = check_exclusive_change.event_id
    and (s.escrow_version > 0 or m.status = 'resolved')
  order by m.id
  limit 1;
  if found then
    perform core.raise_error('INVALID_STATE', format(
      'The market %L of the event has traded or is resolved: the markets of an exclusive event '
      'stay as they are then', v_title
    ));
  end if;
end
$$;

comment on function trading.check_exclusive_change(bigint, int) is
  'Refuses that an event becomes exclusive or no longer is, and that so many markets are added to '
  'an exclusive one, once shares were made in one of its markets or one is resolved: what a share '
  'is worth goes by all of them; and more than 500 markets. The caller holds the row of the event, '
  'so that no market is resolved meanwhile. Errors: INVALID_STATE.';
