create or replace function ledger.check_day(at timestamptz)
returns void
language plpgsql volatile
as $$
begin
  if (core.now() at time zone 'UTC')::date > (check_day.at at time zone 'UTC')::date then
    raise exception using
      errcode = 'serialization_failure', message = 'The day (UTC) has ended meanwhile: call again';
  end if;
end
$$;

comment on function ledger.check_day(timestamptz) is
  'Called before cash moves, by a command that read its time before it had the locks of the users: '
  'meanwhile their cash may have moved, on the next day. So the entries of an account never go '
  'back to an earlier day, and what day openings say is the sum of the movements. Error: 40001 if '
  'the day (UTC) of that time is over.';
