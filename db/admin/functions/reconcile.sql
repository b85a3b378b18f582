create or replace function admin.reconcile(day date, bank jsonb)
returns table (
  reference text, ours_cents bigint, bank_cents bigint, difference_cents bigint
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant int := 100000;
  v_from timestamptz;
  v_entries int;
  v_place bigint;
  v_differences jsonb;
begin
  perform admin.check_role('reconcile');
  if isfinite(reconcile.day) is not true then
    perform core.raise_error('INVALID_REQUEST', 'The day must be a date');
  end if;
  v_from := reconcile.day::timestamp at time zone 'UTC';
  v_entries := case jsonb_typeof(reconcile.bank)
    when 'array' then jsonb_array_length(reconcile.bank)
  end;
  if (v_entries between 0 and c_most) is not true then
    perform core.raise_error('INVALID_REQUEST', format(
      'The bank''s entries must be an array of at most %s {reference, amount_cents}', c_most
    ));
  end if;
  select b.place into v_place
  from jsonb_array_elements(reconcile.bank) with ordinality as b (entry, place)
  where core.is_blank(coalesce(b.entry ->> 'reference', ''))
    or length(b.entry ->> 'reference') > 200
    or coalesce(b.entry ->> 'amount_cents', '') !~ '^-?[0-9]{1,13}$'
  order by b.place
  limit 1;
  if found then
    perform core.raise_error('INVALID_REQUEST', format(
      'Entry %s of the bank must have a reference and a whole number as amount_cents', v_place
    ));
  end if;

  -- So that no movement of the day is still under way.
  perform ledger.lock_outside_world();
  with ours as (
    select
      coalesce(c.reference, f.reference, 'void ' || v.id) as name,
      sum(case j.kind
        when 'deposit' then c.amount_cents
        when 'void' then v.outside_cents
        else -coalesce(c.amount_cents, f.amount_cents)
      end) as cents
    from ledger.posted_journals as j
    left join ledger.cash_movements as c on c.journal_id = j.id
    left join ledger.fee_payouts as f on f.journal_id = j.id
    left join trading.voids as v on v.journal_id = j.id and v.outside_cents > 0
    where (j.kind in ('deposit', 'withdrawal', 'reversal', 'fee_payout') or v.id is not null)
      and j.created_at >= v_from
      and j.created_at < v_from + interval '24 hours'
    group by 1
  ),
  theirs as (
    select b.reference as name, sum(b.amount_cents) as cents
    from jsonb_to_recordset(reconcile.bank) as b (reference text, amount_cents bigint)
    group by 1
  )
  select coalesce(jsonb_agg(
    jsonb_build_object(
      'reference', d.reference,
      'ours_cents', d.ours_cents,
      'bank_cents', d.bank_cents,
      'difference_cents', d.bank_cents - d.ours_cents
    )
    order by d.reference
  ), '[]') into v_differences
  from (
    select
      coalesce(o.name, b.name) as reference,
      coalesce(o.cents, 0) as ours_cents,
      coalesce(b.cents, 0) as bank_cents
    from ours as o
    full join theirs as b on b.name = o.name
  ) as d
  where d.ours_cents <> d.bank_cents;

  insert into admin.bank_comparisons as r (day, at, bank_entries, differences)
  values (reconcile.day, core.now(), v_entries, v_differences)
  on conflict on constraint bank_comparisons_pkey do update set
    at = excluded.at,
    bank_entries = excluded.bank_entries,
    differences = excluded.differences;
  perform admin.audit('reconcile', jsonb_build_object(
    'day', reconcile.day, 'bank_entries', v_entries, 'differences', v_differences
  ));
  return query
    select d.reference, d.ours_cents, d.bank_cents, d.difference_cents
    from jsonb_to_recordset(v_differences) as d (
      reference text, ours_cents bigint, bank_cents bigint, difference_cents bigint
    );
end
$$;

comment on function admin.reconcile(date, jsonb) is
  'Compares the cash that came in and went out on a day (UTC) with the entries of the bank, an '
  'array of {reference, amount_cents}, above zero for what came in; entries with one reference '
  'count together. Ours are deposits, less reversals, withdrawals and payouts of fees, by their '
  'references; and fees that a void gave back after they were paid out, which have to come back, '
  'as void and its key. Returns the references with different amounts; none is the amount 0. The '
  'last comparison of a day is kept for admin.close_day. Errors: INVALID_REQUEST, UNFIT_SESSION. '
  'Locks: the outside world, then the comparison of the day.';
