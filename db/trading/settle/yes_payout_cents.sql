create or replace function trading.yes_payout_cents(outcome text, yes_payout_cents int)
returns int
language plpgsql stable
as $$
declare
  v_cents constant int := case yes_payout_cents.outcome
    when 'yes' then 100
    when 'no' then 0
    else yes_payout_cents.yes_payout_cents
  end;
begin
  if yes_payout_cents.outcome is null
    or yes_payout_cents.outcome not in ('yes', 'no', 'custom')
  then
    perform core.raise_error('INVALID_REQUEST', 'The outcome must be yes, no or custom');
  elsif v_cents is null then
    perform core.raise_error(
      'INVALID_REQUEST', 'A custom outcome needs yes_payout_cents'
    );
  elsif v_cents not between 0 and 100 then
    perform core.raise_error('INVALID_REQUEST', 'A YES share must pay from 0 to 100 cents');
  elsif v_cents <> yes_payout_cents.yes_payout_cents then
    perform core.raise_error('INVALID_REQUEST', format(
      'A YES share pays %s cents when the outcome is %s', v_cents, yes_payout_cents.outcome
    ));
  end if;
  return v_cents;
end
$$;

comment on function trading.yes_payout_cents(text, int) is
  'What a YES share pays by an outcome: 100 (yes), 0 (no), or what is given with custom, 0-100; a '
  'NO share pays the rest. Errors: INVALID_REQUEST.';
