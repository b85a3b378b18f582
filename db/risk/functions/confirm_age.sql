create or replace function risk.confirm_age(user_id bigint, confirmed_age int)
returns void
language plpgsql volatile
as $$
declare
  v_minimum_age constant int := (select s.minimum_age from core.settings as s);
begin
  if not risk.has_confirmed_age(confirm_age.confirmed_age, v_minimum_age) then
    perform core.raise_error(
      'AGE_NOT_CONFIRMED', format('Confirm that you are %s or older', v_minimum_age)
    );
  end if;
  -- What was asked is kept, and not more than that.
  update trading.traders as t set
    confirmed_age = v_minimum_age,
    age_confirmed_at = core.now()
  where t.user_id = confirm_age.user_id
    and t.confirmed_age < v_minimum_age;
end
$$;

comment on function risk.confirm_age(bigint, int) is
  'Notes that a user has confirmed the minimum age of the exchange, if it has one and the user has '
  'not confirmed it before. confirmed_age: the age that the user says to have reached; null: '
  'none. Errors: AGE_NOT_CONFIRMED. Locks: the user, if it is noted.';
