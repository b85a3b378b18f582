--! Previous: sha1:bdc33c83ffdfcc926a3c43c549e6e757f9d0877e
--! Hash: sha1:fb9ea08d359a85ca66ea6e474bcbf589eb82567b
--! Message: A change of fees is committed soon

-- A change of fees that is committed late would make ledger.verify() name the trades before it.
set local lock_timeout = '500ms';
set local role exchange_owner;
--! Included trading/check/check_fee_moment.sql
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
--! EndIncluded trading/check/check_fee_moment.sql
lock table trading.fee_schedules, trading.fee_cancellations in share row exclusive mode;
create constraint trigger fee_schedules_are_committed_soon
  after insert on trading.fee_schedules
  deferrable initially deferred
  for each row execute function trading.check_fee_moment();
create constraint trigger fee_cancellations_are_committed_soon
  after insert on trading.fee_cancellations
  deferrable initially deferred
  for each row execute function trading.check_fee_moment();
reset role;
