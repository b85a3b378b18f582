create or replace function catalog.is_payout_of(outcome catalog.outcome, yes_payout_cents int)
returns boolean
language sql immutable parallel safe
return case outcome
  when 'yes' then yes_payout_cents = 100
  when 'no' then yes_payout_cents = 0
  when 'custom' then yes_payout_cents between 0 and 100
end;

comment on function catalog.is_payout_of(catalog.outcome, int) is
  'Whether an outcome may pay a YES share so many cents: 100 (yes), 0 (no), or from 0 to 100 '
  '(custom). Null without an outcome.';
