create or replace function ledger.check_movement(
  kind ledger.journal_kind, amount_cents bigint, reference text
)
returns void
language plpgsql stable
as $$
declare
  c_most_cents constant bigint := 1000000000000000;
begin
  if check_movement.kind = 'adjustment' then
    if coalesce(check_movement.amount_cents, 0) = 0 then
      perform core.raise_error('INVALID_REQUEST', 'The amount must not be 0');
    end if;
  elsif check_movement.amount_cents is null or check_movement.amount_cents <= 0 then
    perform core.raise_error('INVALID_REQUEST', 'The amount must be above 0');
  end if;
  if check_movement.amount_cents not between -c_most_cents and c_most_cents then
    perform core.raise_error(
      'INVALID_REQUEST', 'The amount must be at most 10,000,000,000,000.00 EUR'
    );
  end if;
  if core.is_blank(coalesce(check_movement.reference, ''))
    or length(check_movement.reference) > 200
  then
    perform core.raise_error('INVALID_REQUEST', format(
      'A %s of at most 200 characters is required',
      case check_movement.kind when 'bonus' then 'name' else 'reference' end
    ));
  end if;
end
$$;

comment on function ledger.check_movement(ledger.journal_kind, bigint, text) is
  'Rejects an amount out of bounds and a missing reference of a movement of cash. Only an '
  'adjustment may be below zero. Errors: INVALID_REQUEST.';
