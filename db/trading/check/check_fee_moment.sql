create or replace function trading.check_fee_moment()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if core.now() > new.created_at + interval '50 seconds' then
    perform core.raise_error(
      'INVALID_STATE', 'A change of fees must be committed within 50 seconds: make it again'
    );
  end if;
  return null;
end
$$;

comment on function trading.check_fee_moment() is
  'Trigger, at the end of the transaction: trades do not see a change of fees before its commit, '
  'and trading.verify_fees() allows a minute for that, ten seconds of which are for the commit '
  'itself. With the rights of its owner: up to PostgreSQL 17 it runs as whoever commits. Errors: '
  'INVALID_STATE.';
