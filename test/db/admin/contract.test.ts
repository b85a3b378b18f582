import test from "ava";
import { testDatabase } from "../../helpers/database/test_database.ts";

/**
 * What the scripts of operators stand on, word for word: names, order, types and defaults of the
 * arguments, and what comes back. Add functions, or arguments with a default at the end; a change
 * of a line breaks an operator's script.
 */

const database = testDatabase(test);

// An effective_from of null is now by the clock of the exchange, which a caller may not read and a
// default would.
const contract = `
  create_category(slug text, name text, "position" int default null) -> text
  create_event(title text, category text, description text default null,
    starts_at timestamptz default null, ends_at timestamptz default null,
    live boolean default false, live_delay_ms int default 3000, thumbnail_id uuid default null,
    thumbnail_url text default null, exclusive boolean default false) -> uuid
  set_event_live(event_id uuid, live boolean, live_delay_ms int default null) -> void
  create_market(title text, category text, description text default '', event_id uuid default null,
    close_time timestamptz default null, thumbnail_id uuid default null,
    thumbnail_url text default null, open boolean default true, open_time timestamptz default null,
    outcome_name text default null, "position" int default null) -> uuid
  create_markets(markets jsonb, dry_run boolean default false) -> TABLE(place int, title text,
    market_id uuid)
  edit_market(market_id uuid, title text default null, description text default null,
    close_time timestamptz default null, no_close_time boolean default false,
    category text default null, open_time timestamptz default null,
    no_open_time boolean default false, outcome_name text default null,
    "position" int default null) -> void
  set_market_status(market_id uuid, status text, close_time timestamptz default null) -> void
  set_market_source(market_id uuid, rules text, source_url text) -> void
  set_minimum_age(years int, reason text) -> void
  set_dispute_window(hours int, reason text) -> void
  answer_dispute(dispute_id uuid, answer text) -> void
  resolve_market(market_id uuid, outcome text, yes_payout_cents int default null,
    evidence text default null) -> jsonb
  preview_resolution(market_id uuid, outcome text, yes_payout_cents int default null)
    -> TABLE(user_id uuid, side text, quantity bigint, payout_cents bigint,
    realised_pnl_cents bigint)
  correct_resolution(market_id uuid, outcome text, reason text, yes_payout_cents int default null,
    evidence text default null) -> jsonb
  void_trade(trade_id uuid, reason text) -> jsonb
  statement(user_id uuid, from_day date, to_day date) -> TABLE(at timestamptz, kind text,
    amount_cents bigint, balance_cents bigint, market_title text, reference text)
  reconcile(day date, bank jsonb) -> TABLE(reference text, ours_cents bigint, bank_cents bigint,
    difference_cents bigint)
  add_note(user_id uuid, note text) -> void
  publish_proof() -> TABLE(root text, total_cents bigint)
  close_day(day date, reason text default null) -> void
  void_market(market_id uuid, reason text) -> jsonb
  create_user(email text, display_name text, handle text) -> uuid
  set_profile(user_id uuid, private boolean default null, leaderboard_opt_out boolean default null,
    display_name text default null, avatar_url text default null) -> void
  create_api_key(user_id uuid, name text, scopes text[] default '{read,trade}',
    expires_at timestamptz default null, allowed_addresses cidr[] default null) -> text
  list_api_keys(user_id uuid) -> TABLE(id uuid, name text, created_at timestamptz,
    last_used_at timestamptz, revoked_at timestamptz)
  revoke_api_key(key_id uuid) -> void
  deposit(user_id uuid, amount_cents bigint, reference text) -> bigint
  withdraw(user_id uuid, amount_cents bigint, reference text) -> bigint
  give_bonus(name text, users jsonb) -> int
  adjust_balance(user_id uuid, amount_cents bigint, reference text, reason text) -> bigint
  reverse_deposit(reference text, reason text, user_id uuid default null) -> bigint
  pay_out_fees(amount_cents bigint, reference text) -> bigint
  set_loss_limits(user_id uuid, day_cents bigint, week_cents bigint, month_cents bigint,
    immediate boolean default false) -> void
  self_exclude(user_id uuid, until timestamptz default 'infinity') -> int
  freeze_user(user_id uuid, reason text, cancel_orders boolean default true,
    keep_sessions boolean default false) -> int
  unfreeze_user(user_id uuid, reason text) -> void
  recover_account(user_id uuid, email text) -> void
  user_access(user_id uuid) -> TABLE(kind text, id uuid, name text, created_at timestamptz,
    last_used_at timestamptz, last_address inet, expires_at timestamptz)
  create_staff(email text, name text, roles text[], login text default null) -> uuid
  set_staff_roles(staff_id uuid, roles text[]) -> void
  remove_staff(staff_id uuid) -> void
  remove_staff_passkey(passkey_id uuid) -> void
  set_approval_rule(command text, role text, from_cents bigint default null) -> void
  remove_approval_rule(command text) -> void
  propose(command text, arguments jsonb, reason text) -> uuid
  approve(proposal_id uuid) -> jsonb
  reject(proposal_id uuid, reason text) -> void
  end_self_exclusion(user_id uuid, reason text) -> void
  export_user(user_id uuid) -> jsonb
  erase_user(user_id uuid, reason text) -> void
  cancel_orders(user_id uuid, market_id uuid default null) -> int
  set_trading_pause(paused boolean, reason text default null) -> void
  set_fee_schedule(taker_rate_bps int, category text default null, market_id uuid default null,
    effective_from timestamptz default null) -> bigint
  set_rate_policy(user_id uuid, tier text, requests_per_minute int default null,
    burst_capacity int default null, expires_at timestamptz default null) -> void
  set_rate_limit(bucket text, max_requests int, window_seconds int) -> void
  refresh_leaderboard() -> timestamptz
  run_due() -> jsonb
`;

/** Each function in one line. */
const signatures = contract
  .trim()
  .split(/\n {2}(?=\S)/)
  .map((text) => text.replace(/\s+/g, " "));

/** PostgreSQL spells types out, and casts what a default begins with. */
function asWritten(text: string): string {
  return text
    .replaceAll("timestamp with time zone", "timestamptz")
    .replaceAll(/\binteger\b/g, "int")
    .replaceAll(/ DEFAULT (NULL|'[^']*'|\w+)(?:::\w+(?:\[\])?)?/g, (_match, value: string) => {
      return ` default ${value === "NULL" ? "null" : value}`;
    });
}

for (const signature of signatures) {
  const name = signature.slice(0, signature.indexOf("("));
  test(`admin.${signature}`, async (t) => {
    const { rows } = await database.pool.query(
      `select
         format('%s(%s) -> %s', p.proname, pg_get_function_arguments(p.oid),
           pg_get_function_result(p.oid)) as signature,
         has_function_privilege('exchange_operator', p.oid, 'execute') as callable
       from pg_proc as p
       where p.pronamespace = 'admin'::regnamespace and p.proname = $1`,
      [name],
    );
    const found = rows.map((row) => ({ ...row, signature: asWritten(row.signature) }));
    t.deepEqual(found, [{ signature, callable: true }]);
  });
}
