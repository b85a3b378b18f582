create or replace function ledger.close_day(
  day date, bank_entries int, differences jsonb, reason text
)
returns void
language plpgsql volatile
as $$
declare
  v_at constant timestamptz := core.now();
  v_before ledger.closed_days;
  v_id bigint;
begin
  if not ledger.is_settled() then
    perform core.raise_error(
      'INVALID_STATE', 'A transaction that moves cash or shares stays open: end it, and call again'
    );
  end if;
  lock table ledger.closed_days in share row exclusive mode;
  select d.* into v_before from ledger.closed_days as d order by d.day desc limit 1;
  if close_day.day <= v_before.day then
    perform core.raise_error('ALREADY_EXISTS', format('%s is the last closed day', v_before.day));
  elsif close_day.day <> v_before.day + 1 then
    perform core.raise_error('INVALID_STATE', format('%s comes first', v_before.day + 1));
  end if;
  insert into ledger.closed_days (day, closed_at, bank_entries, differences, reason)
  values (
    close_day.day, v_at, close_day.bank_entries, close_day.differences, close_day.reason
  )
  returning id into v_id;
  insert into ledger.closed_figures (closed_day_id, account_kind, item, amount_cents)
  select v_id, f.account_kind, f.item, f.amount_cents
  from ledger.figures_of_day(close_day.day, v_before.id) as f;
end
$$;

comment on function ledger.close_day(date, int, jsonb, text) is
  'Keeps the figures of a UTC day for good: the one after the last closed day. Errors: '
  'INVALID_STATE (not the next day, a transaction that moves cash or shares stays open), '
  'ALREADY_EXISTS. The caller asks whether it is too early. Locks: ledger.closed_days in mode '
  'share row exclusive.';
