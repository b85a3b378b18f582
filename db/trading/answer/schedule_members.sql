create or replace function trading.schedule_members(
  release_at timestamptz, budget_cents int, at timestamptz
)
returns text
language sql stable parallel safe
return format(
  ',"releaseAt":"%s","releaseInMs":%s,"budgetCents":%s',
  core.iso8601(release_at),
  trading.release_in_ms(release_at, at),
  coalesce(budget_cents::text, 'null')
);

comment on function trading.schedule_members(timestamptz, int, timestamptz) is
  'What the answers show of a scheduled order beside the rest, as members of its JSON object.';
