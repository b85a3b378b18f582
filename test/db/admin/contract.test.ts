import test from "ava";
import { testDatabase } from "../../helpers/database/test_database.ts";

/**
 * What the scripts of operators stand on, word for word: names, order, types and defaults of the
 * arguments, and what comes back. Add functions, or arguments with a default at the end; a change
 * of a line breaks an operator's script.
 */

const database = testDatabase(test);

const contract: Record<string, { arguments: string; returns: string }> = {
  create_category: {
    arguments: 'slug text, name text, "position" int default null',
    returns: "text",
  },
  create_event: {
    arguments:
      "title text, category text, description text default null, " +
      "starts_at timestamptz default null, ends_at timestamptz default null, " +
      "live boolean default false, live_delay_ms int default 3000, " +
      "thumbnail_id uuid default null, thumbnail_url text default null, " +
      "exclusive boolean default false",
    returns: "uuid",
  },
  set_event_live: {
    arguments: "event_id uuid, live boolean, live_delay_ms int default null",
    returns: "void",
  },
  create_market: {
    arguments:
      "title text, category text, description text default '', event_id uuid default null, " +
      "close_time timestamptz default null, thumbnail_id uuid default null, " +
      "thumbnail_url text default null, open boolean default true, " +
      "open_time timestamptz default null, outcome_name text default null, " +
      '"position" int default null',
    returns: "uuid",
  },
  create_markets: {
    arguments: "markets jsonb, dry_run boolean default false",
    returns: "TABLE(place int, title text, market_id uuid)",
  },
  edit_market: {
    arguments:
      "market_id uuid, title text default null, description text default null, " +
      "close_time timestamptz default null, no_close_time boolean default false, " +
      "category text default null, open_time timestamptz default null, " +
      "no_open_time boolean default false, outcome_name text default null, " +
      '"position" int default null',
    returns: "void",
  },
  set_market_status: {
    arguments: "market_id uuid, status text, close_time timestamptz default null",
    returns: "void",
  },
  set_market_source: {
    arguments: "market_id uuid, rules text, source_url text",
    returns: "void",
  },
  set_minimum_age: { arguments: "years int, reason text", returns: "void" },
  set_dispute_window: { arguments: "hours int, reason text", returns: "void" },
  answer_dispute: { arguments: "dispute_id uuid, answer text", returns: "void" },
  resolve_market: {
    arguments:
      "market_id uuid, outcome text, yes_payout_cents int default null, " +
      "evidence text default null",
    returns: "jsonb",
  },
  preview_resolution: {
    arguments: "market_id uuid, outcome text, yes_payout_cents int default null",
    returns:
      "TABLE(user_id uuid, side text, quantity bigint, payout_cents bigint, " +
      "realised_pnl_cents bigint)",
  },
  correct_resolution: {
    arguments:
      "market_id uuid, outcome text, reason text, yes_payout_cents int default null, " +
      "evidence text default null",
    returns: "jsonb",
  },
  void_trade: { arguments: "trade_id uuid, reason text", returns: "jsonb" },
  statement: {
    arguments: "user_id uuid, from_day date, to_day date",
    returns:
      "TABLE(at timestamptz, kind text, amount_cents bigint, balance_cents bigint, " +
      "market_title text, reference text)",
  },
  reconcile: {
    arguments: "day date, bank jsonb",
    returns: "TABLE(reference text, ours_cents bigint, bank_cents bigint, difference_cents bigint)",
  },
  add_note: { arguments: "user_id uuid, note text", returns: "void" },
  publish_proof: { arguments: "", returns: "TABLE(root text, total_cents bigint)" },
  close_day: { arguments: "day date, reason text default null", returns: "void" },
  void_market: { arguments: "market_id uuid, reason text", returns: "jsonb" },
  create_user: {
    arguments: "email text, display_name text, handle text",
    returns: "uuid",
  },
  set_profile: {
    arguments:
      "user_id uuid, private boolean default null, leaderboard_opt_out boolean default null, " +
      "display_name text default null, avatar_url text default null",
    returns: "void",
  },
  create_api_key: {
    arguments:
      "user_id uuid, name text, scopes text[] default '{read,trade}', " +
      "expires_at timestamptz default null, allowed_addresses cidr[] default null",
    returns: "text",
  },
  list_api_keys: {
    arguments: "user_id uuid",
    returns:
      "TABLE(id uuid, name text, created_at timestamptz, last_used_at timestamptz, " +
      "revoked_at timestamptz)",
  },
  revoke_api_key: {
    arguments: "key_id uuid",
    returns: "void",
  },
  deposit: {
    arguments: "user_id uuid, amount_cents bigint, reference text",
    returns: "bigint",
  },
  withdraw: {
    arguments: "user_id uuid, amount_cents bigint, reference text",
    returns: "bigint",
  },
  give_bonus: {
    arguments: "name text, users jsonb",
    returns: "int",
  },
  adjust_balance: {
    arguments: "user_id uuid, amount_cents bigint, reference text, reason text",
    returns: "bigint",
  },
  reverse_deposit: {
    arguments: "reference text, reason text, user_id uuid default null",
    returns: "bigint",
  },
  pay_out_fees: {
    arguments: "amount_cents bigint, reference text",
    returns: "bigint",
  },
  set_loss_limits: {
    arguments:
      "user_id uuid, day_cents bigint, week_cents bigint, month_cents bigint, " +
      "immediate boolean default false",
    returns: "void",
  },
  self_exclude: {
    arguments: "user_id uuid, until timestamptz default 'infinity'",
    returns: "int",
  },
  freeze_user: {
    arguments:
      "user_id uuid, reason text, cancel_orders boolean default true, " +
      "keep_sessions boolean default false",
    returns: "int",
  },
  unfreeze_user: {
    arguments: "user_id uuid, reason text",
    returns: "void",
  },
  recover_account: {
    arguments: "user_id uuid, email text",
    returns: "void",
  },
  user_access: {
    arguments: "user_id uuid",
    returns:
      "TABLE(kind text, id uuid, name text, created_at timestamptz, last_used_at timestamptz, " +
      "last_address inet, expires_at timestamptz)",
  },
  create_staff: {
    arguments: "email text, name text, roles text[], login text default null",
    returns: "uuid",
  },
  set_staff_roles: { arguments: "staff_id uuid, roles text[]", returns: "void" },
  remove_staff: { arguments: "staff_id uuid", returns: "void" },
  remove_staff_passkey: { arguments: "passkey_id uuid", returns: "void" },
  set_approval_rule: {
    arguments: "command text, role text, from_cents bigint default null",
    returns: "void",
  },
  remove_approval_rule: { arguments: "command text", returns: "void" },
  propose: { arguments: "command text, arguments jsonb, reason text", returns: "uuid" },
  approve: { arguments: "proposal_id uuid", returns: "jsonb" },
  reject: { arguments: "proposal_id uuid, reason text", returns: "void" },
  end_self_exclusion: { arguments: "user_id uuid, reason text", returns: "void" },
  export_user: { arguments: "user_id uuid", returns: "jsonb" },
  erase_user: { arguments: "user_id uuid, reason text", returns: "void" },
  cancel_orders: {
    arguments: "user_id uuid, market_id uuid default null",
    returns: "int",
  },
  set_trading_pause: {
    arguments: "paused boolean, reason text default null",
    returns: "void",
  },
  // Null is now by the clock of the exchange, which a caller may not read and a default would.
  set_fee_schedule: {
    arguments:
      "taker_rate_bps int, category text default null, market_id uuid default null, " +
      "effective_from timestamptz default null",
    returns: "bigint",
  },
  set_rate_policy: {
    arguments:
      "user_id uuid, tier text, requests_per_minute int default null, " +
      "burst_capacity int default null, expires_at timestamptz default null",
    returns: "void",
  },
  set_rate_limit: {
    arguments: "bucket text, max_requests int, window_seconds int",
    returns: "void",
  },
  refresh_leaderboard: { arguments: "", returns: "timestamptz" },
  run_due: { arguments: "", returns: "jsonb" },
};

/** PostgreSQL spells types out, and casts what a default begins with. */
function asWritten(text: string): string {
  return text
    .replaceAll("timestamp with time zone", "timestamptz")
    .replaceAll(/\binteger\b/g, "int")
    .replaceAll(/ DEFAULT (NULL|'[^']*'|\w+)(?:::\w+(?:\[\])?)?/g, (_match, value: string) => {
      return ` default ${value === "NULL" ? "null" : value}`;
    });
}

for (const [name, expected] of Object.entries(contract)) {
  test(`admin.${name}(${expected.arguments})`, async (t) => {
    const { rows } = await database.pool.query(
      `select
         pg_get_function_arguments(p.oid) as arguments,
         pg_get_function_result(p.oid) as returns,
         has_function_privilege('exchange_operator', p.oid, 'execute') as callable
       from pg_proc as p
       where p.pronamespace = 'admin'::regnamespace and p.proname = $1`,
      [name],
    );
    const found = rows.map((row) => ({
      arguments: asWritten(row.arguments),
      returns: asWritten(row.returns),
      callable: row.callable,
    }));
    t.deepEqual(found, [{ ...expected, callable: true }]);
  });
}
