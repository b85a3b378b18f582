import type { Damage } from "./damage.ts";

/** Ways to part the audit log from what operators did, each with an invariant that must notice. */
export const callsDamages: Damage[] = [
  ["movement of cash has its call", "delete from admin.audit_log where action = 'deposit'"],
  ...["withdraw", "give_bonus", "adjust_balance", "reverse_deposit", "pay_out_fees"].map(
    (action): Damage => [
      "movement of cash has its call",
      `delete from admin.audit_log where action = '${action}'`,
    ],
  ),
  [
    "movement of cash has its call",
    "update ledger.cash_movements set reason = 'forged' where kind = 'adjustment'",
  ],
  [
    "call has moved the cash that it says",
    `update admin.audit_log set arguments = jsonb_set(arguments, '{users,0,amount_cents}', '7')
     where action = 'give_bonus'`,
  ],
  ["call has moved the cash that it says", "delete from ledger.fee_payouts"],
  [
    "movement of cash has its call",
    `update admin.audit_log set arguments = arguments || '{"amount_cents": 1}'
     where action = 'deposit'`,
  ],
  [
    "movement of cash has its call",
    `update admin.audit_log set arguments = arguments || '{"reference": "other"}'
     where action = 'withdraw'`,
  ],
  // Of the users of whom no row says that an operator made them.
  [
    "movement of cash has its call",
    `with deleted as (
       delete from admin.audit_log where action in ('create_user', 'deposit') returning id
     )
     update ledger.cash_movements set reference = 'play money' where user_id = :ann
       and (select count(*) from deleted) > 0`,
  ],
  [
    "movement of cash has its call",
    "update ledger.cash_movements set reference = 'present' where user_id = :hal",
  ],
  [
    "call has moved the cash that it says",
    `insert into admin.audit_log (operator, action, arguments)
     select operator, action, arguments || '{"reference": "another"}' from admin.audit_log
     where action = 'deposit' limit 1`,
  ],
  [
    "call has moved the cash that it says",
    "update ledger.cash_movements set amount_cents = amount_cents + 1 where user_id = :ann",
  ],
  [
    "call has moved the cash that it says",
    `update admin.audit_log set arguments = '"nothing"' where action = 'withdraw';`,
  ],
  [
    "resolution is what was called for",
    "delete from admin.audit_log where action = 'correct_resolution'",
  ],
  [
    "resolution is what was called for",
    `update admin.audit_log set arguments = arguments || '{"outcome": "no"}'
     where action = 'resolve_market'`,
  ],
  [
    "resolution is what was called for",
    "update trading.resolutions set reason = 'no mistake' where id = :correction",
  ],
  [
    "resolution is what was called for",
    "update admin.audit_log set at = at + interval '2 hours' where action = 'resolve_market'",
  ],
  [
    "fee schedule is what was called for",
    "delete from admin.audit_log where action = 'set_fee_schedule'",
  ],
  [
    "fee schedule is what was called for",
    "update trading.fee_schedules set created_at = created_at - interval '2 hours'",
  ],
  [
    "fee schedule is what was called for",
    "insert into trading.fee_schedules (taker_rate_bps, effective_from) values (1, '2100-01-01')",
  ],
  [
    "setting is that of the last call",
    "update identity.settings set play_money_cents = play_money_cents + 1",
  ],
  ["setting is that of the last call", "delete from admin.audit_log where action = 'set_sign_up'"],
  [
    "setting is that of the last call",
    "update core.settings set trading_paused = true, trading_paused_at = now()",
  ],
  ["setting is that of the last call", "update core.settings set dispute_window_hours = 71"],
  ["setting is that of the last call", "update core.settings set minimum_age = 17"],
  [
    "setting is that of the last call",
    "update rate_limits.buckets set max_requests = 600 where bucket = 'v1'",
  ],
  ["setting is that of the last call", "update rate_limits.stream_caps set max_streams = 9"],
  ["setting is that of the last call", "delete from rate_limits.rate_policies"],
  [
    "setting is that of the last call",
    `insert into rate_limits.rate_policies (user_id, tier, requests_per_minute, burst_capacity)
     values (:ann, 'custom', 1000, 1000)`,
  ],
  [
    "verification has the first rows that it found",
    "update ledger.verifications set broken_count = 2 where broken_count = 1",
  ],
  ["category is what was called for", "update catalog.categories set name = 'Other'"],
  [
    "category is what was called for",
    "delete from admin.audit_log where action = 'create_category'",
  ],
  [
    "event is what was called for",
    "update catalog.events set live_delay_ms = 0 where title = 'The cup'",
  ],
  [
    "event is what was called for",
    "update catalog.events set live = false where title = 'The cup'",
  ],
  ["event is what was called for", "delete from admin.audit_log where action = 'edit_event'"],
  [
    "market is what was called for",
    "update catalog.markets set title = 'Will it rain?' where id = :edited",
  ],
  [
    "market is what was called for",
    "update catalog.markets set description = 'Of all.' where id = :market",
  ],
  [
    "market is what was called for",
    "update catalog.markets set created_at = created_at - interval '2 hours' where id = :market",
  ],
  [
    "market closes when it was called for",
    "update catalog.markets set close_time = null where id = :edited",
  ],
  [
    "market closes when it was called for",
    "update catalog.markets set close_time = '2100-01-01' where id = :market",
  ],
  ["fee schedule was withdrawn as was called for", "delete from trading.fee_cancellations"],
  [
    "fee schedule was withdrawn as was called for",
    "delete from admin.audit_log where action = 'cancel_fee_schedule'",
  ],
  ["setting is that of the last call", "update admin.caps set per_day_cents = null"],
  ["setting is that of the last call", "update admin.caps set per_call_cents = 1"],
  [
    "market opens when it was called for",
    "update catalog.markets set status = 'paused', open_time = '2100-01-01' where id = :market",
  ],
  [
    "market has the status that was called for",
    "update catalog.markets set status = 'open' where id = :edited",
  ],
  [
    "market has the status that was called for",
    "update catalog.markets set status = 'open' where id = :closed",
  ],
  [
    "market has the status that was called for",
    "update catalog.markets set status = 'closed' where id = :market",
  ],
  [
    "market has the status that was called for",
    `delete from admin.audit_log
     where action = 'set_market_status' and arguments ->> 'status' = 'paused'`,
  ],
  ...[
    'update admin.personal_arguments set arguments = arguments || \'{"email": "x@y"}\'',
    "update admin.personal_arguments set salt = sha256(salt)",
    "delete from admin.personal_arguments where arguments ? 'email'",
    "update admin.audit_log set personal_digest = null where action = 'create_user'",
  ].map((statement): Damage => ["personal arguments are those of the call", statement]),
  [
    "account is erased as was called for",
    "update identity.users set erased_at = now() where id = :ann",
  ],
  [
    "personal arguments were erased as was called for",
    `update admin.personal_arguments
     set salt = null, arguments = null,
       erased_by = (select min(id) from admin.audit_log where action = 'create_user')`,
  ],
  ["user whom an operator made is there", "delete from identity.users where id = :ann"],
  [
    "user was made by an operator or has signed up",
    "delete from admin.audit_log where action = 'create_user'",
  ],
  [
    "account is frozen as was called for",
    `update trading.traders
     set frozen_at = now(), frozen_by = session_user, frozen_reason = 'forged' where user_id = :ann`,
  ],
  [
    "account is frozen as was called for",
    `update trading.traders set frozen_at = null, frozen_by = null, frozen_reason = null
     where user_id = :eva`,
  ],
  [
    "account is frozen as was called for",
    "update trading.traders set frozen_reason = 'forged' where user_id = :eva",
  ],
  [
    "account is frozen as was called for",
    "delete from admin.audit_log where action = 'freeze_user'",
  ],
  [
    "account is frozen as was called for",
    "delete from admin.audit_log where action = 'unfreeze_user'",
  ],
  [
    "account is frozen as was called for",
    "update admin.audit_log set operator = 'another' where action = 'freeze_user'",
  ],
  [
    "API key is what was called for",
    "update identity.api_keys set user_id = :ann where name = 'in force'",
  ],
  ["API key is what was called for", "update identity.api_keys set expires_at = null"],
  ["API key is what was called for", "delete from identity.api_keys where name = 'revoked'"],
  [
    "API key takes the place of the one that was rotated",
    "update identity.api_keys set replaces = null where replaces is not null",
  ],
  ["API key that an operator ended has its end", "update identity.api_keys set revoked_at = null"],
  [
    "staff key is what was called for",
    "update identity.staff_keys set revoked_at = null where name = 'Bob'",
  ],
  [
    "staff key is what was called for",
    "update identity.staff_keys set role = 'operator' where name = 'Ada'",
  ],
  [
    "staff key is what was called for",
    `update identity.staff_keys set staff_id = (select min(id) from identity.staff)
     where role = 'operator'`,
  ],
  [
    "staff key is what was called for",
    "insert into identity.staff_keys (name, role, key_hash) values ('Eve', 'operator', sha256(''))",
  ],
  [
    "staff key is what was called for",
    "delete from admin.audit_log where action = 'create_staff_key'",
  ],
  ...[
    "update identity.staff set roles = '{staff}' where name = 'Cleo'",
    "update identity.staff set email = 'eve@staff.example' where name = 'Cleo'",
    "update identity.staff set login = 'eve' where name = 'Cleo'",
    "update identity.staff set removed_at = null where name = 'Dan'",
    "insert into identity.staff (email, name, roles) values ('eve@staff.example', 'Eve', '{cash}')",
    "delete from admin.audit_log where action = 'set_staff_roles'",
    "delete from identity.staff",
  ].map((statement): Damage => ["member of staff is what was called for", statement]),
  [
    "session of staff is of one who is staff",
    `insert into identity.staff_sessions (staff_id, cookie_hash, expires_at)
     select id, sha256(''), core.now() + interval '1 hour' from identity.staff where name = 'Dan'`,
  ],
  [
    "loss limits were changed as an operator called for",
    `update admin.audit_log set arguments = arguments || '{"day_cents": 9}'
     where action = 'set_loss_limits'`,
  ],
  [
    "exclusion lasts at least as long as an operator called for",
    "update trading.traders set excluded_until = null where user_id = :gus",
  ],
  [
    "order that an operator cancelled is cancelled",
    "delete from trading.ended_orders where id = :cancelled_by_operator",
  ],
];

/** Ways to break what a chart shows. */
export const candlesDamages: Damage[] = [
  ...[
    "open_price = case open_price when low_price then high_price else low_price end",
    "high_price = 99",
    "low_price = 1",
    "close_price = case close_price when low_price then high_price else low_price end",
  ].map((change): Damage => [
    "candle equals its trades",
    `update trading.candles set ${change} where width_minutes = 1440`,
  ]),
  ["candle equals its trades", "update trading.candles set quantity = quantity + 1"],
  ["candle equals its trades", "delete from trading.candles where width_minutes = 60"],
  ["candle equals its trades", "delete from trading.candles"],
  [
    "candle equals its trades",
    `insert into trading.candles
     select market_id, width_minutes, min(start_at) - interval '1 day', 1, 1, 1, 1, 1, 1
     from trading.candles where width_minutes = 1440 group by 1, 2`,
  ],
  ["candle equals its trades", "delete from trading.candle_progress"],
  [
    "candles are made of the trades up to the last",
    "update trading.candle_progress set trade_count = trade_count - 1",
  ],
  [
    "candles are made of the trades up to the last",
    "update trading.candle_progress set last_trade_id = last_trade_id + 1",
  ],
];

/** Ways to change the schema, or the notes of its installation. */
export const schemaDamages: Damage[] = [
  ...[
    "drop trigger audit_log_is_append_only on admin.audit_log",
    "alter table admin.audit_log disable trigger audit_log_is_append_only",
    "alter table trading.trades enable replica trigger trades_are_append_only",
    "alter table trading.settlements disable trigger all",
    "alter table ledger.cash_movements drop constraint cash_movements_happen_once",
    `create or replace function ledger.refuse_change() returns trigger language plpgsql
     set search_path = pg_catalog, pg_temp as $$ begin return null; end $$`,
    `create or replace function ledger.verify_accounts()
     returns table (name text, object text, expected text, found text) language sql stable
     set search_path = pg_catalog, pg_temp as $$ select '', '', '', '' limit 0 $$`,
    "grant update on ledger.posted_entries to exchange_api",
    "grant execute on function admin.deposit(uuid, bigint, text) to exchange_worker",
    "alter function admin.set_sign_up(text, bigint) security invoker",
    "create rule forged as on update to trading.traders do instead nothing",
    `create trigger forged before insert on ledger.posted_entries
     for each row execute function ledger.refuse_change()`,
    "update installer.objects set hash = md5('') where name = 'ledger.refuse_change()'",
    "delete from installer.objects",
  ].map((statement): Damage => ["schema is as it was installed", statement]),
  ["schema was noted by the last installation", "delete from installer.installations"],
  [
    "schema was noted by the last installation",
    "update installer.installations set server_version = server_version + 1",
  ],
  ...(
    [
      ["has the triggers of its table", "drop trigger archived_orders_are_append_only on %s"],
      [
        "has the triggers of its table",
        "alter table %s disable trigger archived_orders_are_append_only",
      ],
      ["gives no rights of its own", "grant select on %s to exchange_api"],
      ["gives no rights of its own", "grant select (user_id) on %s to public"],
    ] as const
  ).map(([rule, statement]): Damage => [
    `partition ${rule}`,
    `do $$ begin execute format('${statement}', (
       select inhrelid::regclass from pg_inherits
       where inhparent = 'trading.archived_orders'::regclass limit 1
     )); end $$`,
  ]),
];
