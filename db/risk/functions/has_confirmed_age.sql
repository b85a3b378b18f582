create or replace function risk.has_confirmed_age(confirmed_age int, minimum_age int)
returns boolean
language sql immutable parallel safe
return coalesce(confirmed_age, 0) >= minimum_age;

comment on function risk.has_confirmed_age(int, int) is
  'Whether who confirmed this age, null or 0 for none, may sign up and trade where this is the '
  'minimum age, 0 for none.';
