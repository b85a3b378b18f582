/* The audit log, what it called for, and the schema. */

-- movement of cash has its call
delete from admin.audit_log where action = 'deposit';
delete from admin.audit_log where action = 'withdraw';
delete from admin.audit_log where action = 'give_bonus';
delete from admin.audit_log where action = 'adjust_balance';
delete from admin.audit_log where action = 'reverse_deposit';
delete from admin.audit_log where action = 'pay_out_fees';
update ledger.cash_movements set reason = 'forged' where kind = 'adjustment';
update admin.audit_log set arguments = arguments || '{"amount_cents": 1}' where action = 'deposit';
update admin.audit_log set arguments = arguments || '{"reference": "other"}'
  where action = 'withdraw';
/* Of the users of whom no row says that an operator made them. */
with deleted as (
    delete from admin.audit_log where action in ('create_user', 'deposit') returning id
  )
  update ledger.cash_movements set reference = 'play money' where user_id = :ann
    and (select count(*) from deleted) > 0;
update ledger.cash_movements set reference = 'present' where user_id = :hal;

-- call has moved the cash that it says
update admin.audit_log set arguments = jsonb_set(arguments, '{users,0,amount_cents}', '7')
  where action = 'give_bonus';
delete from ledger.fee_payouts;
insert into admin.audit_log (operator, action, arguments)
  select operator, action, arguments || '{"reference": "another"}' from admin.audit_log
  where action = 'deposit' limit 1;
update ledger.cash_movements set amount_cents = amount_cents + 1 where user_id = :ann;
update admin.audit_log set arguments = '"nothing"' where action = 'withdraw';

-- resolution is what was called for
delete from admin.audit_log where action = 'correct_resolution';
update admin.audit_log set arguments = arguments || '{"outcome": "no"}'
  where action = 'resolve_market';
update trading.resolutions set reason = 'no mistake' where id = :correction;
update admin.audit_log set at = at + interval '2 hours' where action = 'resolve_market';

-- fee schedule is what was called for
delete from admin.audit_log where action = 'set_fee_schedule';
update trading.fee_schedules set created_at = created_at - interval '2 hours';
insert into trading.fee_schedules (taker_rate_bps, effective_from) values (1, '2100-01-01');

-- setting is that of the last call
update identity.settings set play_money_cents = play_money_cents + 1;
delete from admin.audit_log where action = 'set_sign_up';
update core.settings set trading_paused = true, trading_paused_at = now();
update core.settings set dispute_window_hours = 71;
update core.settings set minimum_age = 17;
update rate_limits.buckets set max_requests = 600 where bucket = 'v1';
update rate_limits.stream_caps set max_streams = 9;
delete from rate_limits.rate_policies;
insert into rate_limits.rate_policies (user_id, tier, requests_per_minute, burst_capacity)
  values (:ann, 'custom', 1000, 1000);
update admin.caps set per_day_cents = null;
update admin.caps set per_call_cents = 1;

-- verification has the first rows that it found
update ledger.verifications set broken_count = 2 where broken_count = 1;

-- category is what was called for
update catalog.categories set name = 'Other';
delete from admin.audit_log where action = 'create_category';

-- event is what was called for
update catalog.events set live_delay_ms = 0 where title = 'The cup';
update catalog.events set live = false where title = 'The cup';
delete from admin.audit_log where action = 'edit_event';

-- market is what was called for
update catalog.markets set title = 'Will it rain?' where id = :edited;
update catalog.markets set description = 'Of all.' where id = :market;
update catalog.markets set created_at = created_at - interval '2 hours' where id = :market;

-- market closes when it was called for
update catalog.markets set close_time = null where id = :edited;
update catalog.markets set close_time = '2100-01-01' where id = :market;

-- fee schedule was withdrawn as was called for
delete from trading.fee_cancellations;
delete from admin.audit_log where action = 'cancel_fee_schedule';

-- market opens when it was called for
update catalog.markets set status = 'paused', open_time = '2100-01-01' where id = :market;

-- market has the status that was called for
update catalog.markets set status = 'open' where id = :edited;
update catalog.markets set status = 'open' where id = :closed;
update catalog.markets set status = 'closed' where id = :market;
delete from admin.audit_log
  where action = 'set_market_status' and arguments ->> 'status' = 'paused';

-- personal arguments are those of the call
update admin.personal_arguments set arguments = arguments || '{"email": "x@y"}';
update admin.personal_arguments set salt = sha256(salt);
delete from admin.personal_arguments where arguments ? 'email';
update admin.audit_log set personal_digest = null where action = 'create_user';

-- account is erased as was called for
update identity.users set erased_at = now() where id = :ann;

-- personal arguments were erased as was called for
update admin.personal_arguments
  set salt = null, arguments = null,
    erased_by = (select min(id) from admin.audit_log where action = 'create_user');

-- user whom an operator made is there
delete from identity.users where id = :ann;

-- user was made by an operator or has signed up
delete from admin.audit_log where action = 'create_user';

-- account is frozen as was called for
update trading.traders
  set frozen_at = now(), frozen_by = session_user, frozen_reason = 'forged' where user_id = :ann;
update trading.traders set frozen_at = null, frozen_by = null, frozen_reason = null
  where user_id = :eva;
update trading.traders set frozen_reason = 'forged' where user_id = :eva;
update trading.traders set frozen_by = null where user_id = :eva;
update trading.traders set frozen_at = null where user_id = :eva;
update trading.traders set frozen_by = 'forged' where user_id = :ann;
update trading.traders set frozen_reason = 'forged' where user_id = :ann;
delete from admin.audit_log where action = 'freeze_user';
delete from admin.audit_log where action = 'unfreeze_user';
update admin.audit_log set operator = 'another' where action = 'freeze_user';

-- API key is what was called for
update identity.api_keys set user_id = :ann where name = 'in force';
update identity.api_keys set expires_at = null;
delete from identity.api_keys where name = 'revoked';

-- API key takes the place of the one that was rotated
update identity.api_keys set replaces = null where replaces is not null;

-- API key that an operator ended has its end
update identity.api_keys set revoked_at = null;

-- staff key is what was called for
update identity.staff_keys set revoked_at = null where name = 'Bob';
update identity.staff_keys set role = 'operator' where name = 'Ada';
update identity.staff_keys set staff_id = (select min(id) from identity.staff)
  where role = 'operator';
insert into identity.staff_keys (name, role, key_hash) values ('Eve', 'operator', sha256(''));
delete from admin.audit_log where action = 'create_staff_key';

-- member of staff is what was called for
update identity.staff set roles = '{staff}' where name = 'Cleo';
update identity.staff set email = 'eve@staff.example' where name = 'Cleo';
update identity.staff set login = 'eve' where name = 'Cleo';
update identity.staff set removed_at = null where name = 'Dan';
insert into identity.staff (email, name, roles) values ('eve@staff.example', 'Eve', '{cash}');
delete from admin.audit_log where action = 'set_staff_roles';
delete from identity.staff;

-- session of staff is of one who is staff
insert into identity.staff_sessions (staff_id, cookie_hash, expires_at)
  select id, sha256(''), core.now() + interval '1 hour' from identity.staff where name = 'Dan';

-- loss limits were changed as an operator called for
update admin.audit_log set arguments = arguments || '{"day_cents": 9}'
  where action = 'set_loss_limits';

-- exclusion lasts at least as long as an operator called for
update trading.traders set excluded_until = null where user_id = :gus;

-- order that an operator cancelled is cancelled
delete from trading.ended_orders where id = :cancelled_by_operator;

-- schema is as it was installed
drop trigger audit_log_is_append_only on admin.audit_log;
alter table admin.audit_log disable trigger audit_log_is_append_only;
alter table trading.trades enable replica trigger trades_are_append_only;
alter table trading.settlements disable trigger all;
alter table ledger.cash_movements drop constraint cash_movements_happen_once;
create or replace function ledger.refuse_change() returns trigger language plpgsql
  set search_path = pg_catalog, pg_temp as $$ begin return null; end $$;
create or replace function ledger.verify_accounts()
  returns table (name text, object text, expected text, found text) language sql stable
  set search_path = pg_catalog, pg_temp as $$ select '', '', '', '' limit 0 $$;
grant update on ledger.posted_entries to exchange_api;
grant execute on function admin.deposit(uuid, bigint, text) to exchange_worker;
alter function admin.set_sign_up(text, bigint) security invoker;
create rule forged as on update to trading.traders do instead nothing;
create trigger forged before insert on ledger.posted_entries
  for each row execute function ledger.refuse_change();
update installer.objects set hash = md5('') where name = 'ledger.refuse_change()';
delete from installer.objects;

-- schema was noted by the last installation
delete from installer.installations;
update installer.installations set server_version = server_version + 1;

-- partition has the triggers of its table
do $$ begin execute format('drop trigger archived_orders_are_append_only on %s', (
    select inhrelid::regclass from pg_inherits
    where inhparent = 'trading.archived_orders'::regclass limit 1
  )); end $$;
do $$ begin execute format('alter table %s disable trigger archived_orders_are_append_only', (
    select inhrelid::regclass from pg_inherits
    where inhparent = 'trading.archived_orders'::regclass limit 1
  )); end $$;

-- partition gives no rights of its own
do $$ begin execute format('grant select on %s to exchange_api', (
    select inhrelid::regclass from pg_inherits
    where inhparent = 'trading.archived_orders'::regclass limit 1
  )); end $$;
do $$ begin execute format('grant select (user_id) on %s to public', (
    select inhrelid::regclass from pg_inherits
    where inhparent = 'trading.archived_orders'::regclass limit 1
  )); end $$;

-- approved proposal was carried out
delete from admin.audit_log where proposal_id = :approved;
update admin.audit_log set proposal_id = null where proposal_id = :approved;
update admin.audit_log set proposal_id = :approved where proposal_id = :alsoApproved;
update admin.audit_log set proposal_id = :rejected where proposal_id = :approved;
update admin.audit_log
  set staff_id = (select proposed_by from admin.proposed_calls where id = :approved)
  where proposal_id = :approved;
update admin.audit_log set action = 'deposit' where proposal_id = :approved;

-- proposal was decided as was called for
delete from admin.audit_log
  where action = 'approve' and arguments ->> 'proposal_id'
    = (select public_id::text from admin.proposed_calls where id = :approved);
delete from admin.audit_log
  where action = 'reject' and arguments ->> 'proposal_id'
    = (select public_id::text from admin.proposed_calls where id = :rejected);
update admin.proposed_calls set rejection = 'another' where id = :rejected;
update admin.proposed_calls set status = 'open', decided_by = null, decided_at = null
  where id = :approved;

-- proposal is what was called for
delete from admin.audit_log
  where action = 'propose' and arguments ->> 'proposal_id'
    = (select public_id::text from admin.proposed_calls where id = :approved);
update admin.proposed_calls set arguments = '{}' where id = :approved;
update admin.proposed_calls set reason = 'another' where id = :rejected;
update admin.proposed_calls
  set proposed_by = (select min(id) from identity.staff where roles = '{cash}')
  where id = :approved;

-- approval rule is that of the last call
delete from admin.rules;
update admin.rules set from_cents = 5;
insert into admin.rules values ('deposit', 'cash');
delete from admin.audit_log where action = 'set_approval_rule';

-- call that needs approval has its proposal
insert into admin.audit_log (operator, action, arguments)
  values ('x', 'pay_out_fees', '{"amount_cents": 1000}');
insert into admin.audit_log (operator, action, arguments)
  values ('x', 'pay_out_fees', '{"amount_cents": "much"}');
insert into admin.audit_log (operator, action, arguments) values ('x', 'end_self_exclusion', '{}');

-- proposal was approved by another than proposed it
update admin.audit_log
  set staff_id = (select proposed_by from admin.proposed_calls where id = :approved)
  where action = 'approve' and arguments ->> 'proposal_id'
    = (select public_id::text from admin.proposed_calls where id = :approved);

-- no proposal is being carried out
update admin.proposed_calls set is_running = true where id = :rejected;
