create or replace function trading.check_category_change(market_ids bigint[])
returns void
language plpgsql
as $$
declare
  v_title text;
begin
  select m.title into v_title
  from trading.market_state as s
  join catalog.markets as m on m.id = s.market_id
  where s.market_id = any (check_category_change.market_ids)
    and (s.escrow_version > 0 or m.status = 'resolved')
  order by m.id
  limit 1;
  if found then
    perform core.raise_error('INVALID_STATE', format(
      'The market %L has traded or is resolved: its results count for its category', v_title
    ));
  end if;
end
$$;

comment on function trading.check_category_change(bigint[]) is
  'Refuses another category for markets in which shares were made, or that are resolved: fees that '
  'were paid, and the leaderboard, go by the category. The caller holds the locks of the markets. '
  'Errors: INVALID_STATE.';
