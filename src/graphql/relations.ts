/** The keys of the views and the references between them, which views do not declare. */

interface ViewTags {
  tags: { primaryKey?: string; unique?: string; foreignKey?: string[] };
  /** Further columns that are never null, by their names. */
  attribute: Record<string, { tags: { notNull: true } }>;
}

interface Key {
  key: string;
  unique?: string;
}

const keys = {
  categories: { key: "category_key", unique: "category" },
  events: { key: "event_key", unique: "event_id" },
  markets: { key: "market_key", unique: "market_id" },
  users: { key: "user_key", unique: "user_id" },
  orders: { key: "order_key", unique: "order_id" },
  open_orders: { key: "order_key", unique: "order_id" },
  trades: { key: "trade_key", unique: "trade_id" },
  fee_schedules: { key: "fee_schedule_key" },
} satisfies Record<string, Key>;

type Keyed = keyof typeof keys;
/** A view, by the column that has the name of its key or by another one. */
type Reference = Keyed | readonly [column: string, target: Keyed];

/** Unique columns of the other views, which pages by cursors need. */
const uniqueColumns: Record<string, string> = {
  fills: "trade_key,role",
  positions: "market_key,user_key,side",
  settlements: "resolution_key,user_key,side",
  set_conversions: "conversion_key",
  resolutions: "resolution_key",
  disputes: "dispute_key",
  dispute_window: "hours",
  minimum_age: "years",
  journals: "journal_key",
  journal_entries: "account_key,account_version",
  cash_movements: "journal_key",
  fee_payouts: "journal_key,market_key",
  fee_revenue: "day,market_key,fee_schedule_key",
  day_openings: "user_key,day",
  loss_limits: "user_key,period,effective_from",
  book_depth: "market_key,side,yes_price_cents",
  open_interest: "market_key",
  order_reductions: "order_key,quantity_after",
  rate_limits: "bucket",
  sign_up: "policy",
  stream_caps: "holder",
  cash_caps: "kind",
  unconfirmed_emails: "user_key",
  mails: "mail_key",
  verifications: "verification_key",
  trading_pause: "is_paused",
  processes: "process_id",
  jobs: "job",
  health: "item",
  blocks: "block",
  recent_trades: "trade_key",
  trading_pairs: "first_user_key,second_user_key",
  round_trips: "trade_key",
  large_trades: "trade_key",
  late_trades: "trade_key",
  limit_usage: "user_key,period",
  unusual_losses: "user_key,day",
  lookalikes: "user_key,excluded_user_key",
  audit_entries: "audit_key",
  approval_rules: "command",
  proposals: "proposal_key",
  staff: "staff_key",
  staff_keys: "key_id",
  staff_passkeys: "passkey_id",
  api_keys: "key_id",
  receivables: "user_key",
  voids: "void_key",
  notes: "note_key",
  closed_days: "day",
  closed_figures: "day,account_kind,item",
  reconciliations: "day",
  voided_positions: "void_key,user_key,side",
};

const references: Record<string, Reference[]> = {
  events: ["categories"],
  markets: ["categories", "events"],
  orders: ["markets", "users"],
  open_orders: ["markets", "users"],
  order_reductions: ["orders"],
  trades: ["markets", ["taker_user_key", "users"], ["maker_user_key", "users"]],
  round_trips: ["markets"],
  large_trades: ["markets"],
  late_trades: ["markets"],
  limit_usage: ["users"],
  fills: ["markets", "users", "orders", "trades"],
  positions: ["markets", "users"],
  settlements: ["markets", "users"],
  set_conversions: ["markets", "users"],
  resolutions: ["markets"],
  disputes: ["markets", "users"],
  journal_entries: ["markets", "users"],
  cash_movements: ["users"],
  fee_payouts: ["markets"],
  fee_revenue: ["markets", "fee_schedules"],
  fee_schedules: ["markets"],
  open_interest: ["markets"],
  book_depth: ["markets"],
  day_openings: ["users"],
  loss_limits: ["users"],
  api_keys: ["users"],
  unconfirmed_emails: ["users"],
  mails: ["users"],
  receivables: ["users"],
  voids: ["markets", "trades"],
  voided_positions: ["markets", "users"],
};

/** Those that may be null. An order by one of the others can go by an index. */
const optional: Record<string, Keyed[]> = {
  markets: ["events"],
  journal_entries: ["markets", "users"],
  fee_schedules: ["markets"],
  mails: ["users"],
  voids: ["trades"],
};

/** Other columns that are never null: with a column that may be, an order goes by no index. */
const neverNull: Record<string, string[]> = {
  trades: ["journal_key"],
  journal_entries: ["journal_key"],
  unconfirmed_emails: ["created_at"],
};

/** Smart tags, as PostGraphile calls them, for the views of a schema. */
export function relationsOf(schema: string, views: Set<string>): Record<string, ViewTags> {
  const described = [...views].map((view): [string, ViewTags] => {
    const own: Key | undefined = Object.hasOwn(keys, view) ? keys[view as Keyed] : undefined;
    const targets = (references[view] ?? []).map((reference) => {
      const [column, target] =
        typeof reference === "string" ? [keys[reference].key, reference] : reference;
      return { column, target };
    });
    const foreignKey = targets
      .filter(({ target }) => views.has(target))
      .map(({ column, target }) => {
        return `(${column}) references ${schema}.${target} (${keys[target].key})`;
      });
    const required = targets.filter(({ target }) => optional[view]?.includes(target) !== true);
    const attribute = Object.fromEntries(
      [...required.map(({ column }) => column), ...(neverNull[view] ?? [])].map((column) => [
        column,
        { tags: { notNull: true as const } },
      ]),
    );
    const tags = {
      ...(own && { primaryKey: own.key, ...(own.unique !== undefined && { unique: own.unique }) }),
      ...(own === undefined &&
        uniqueColumns[view] !== undefined && { primaryKey: uniqueColumns[view] }),
      ...(foreignKey.length > 0 && { foreignKey }),
    };
    return [`${schema}.${view}`, { tags, attribute }];
  });
  return Object.fromEntries(described);
}
