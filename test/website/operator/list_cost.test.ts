import test from "ava";
import type { PoolClient } from "pg";
import { makeEngine } from "../../../src/graphql/execution.ts";
import { conditionOf, orderBy } from "../../../src/website/operator/api/filters.ts";
import type { Ask } from "../../../src/website/operator/api/ask.ts";
import { readPage, readTotal } from "../../../src/website/operator/api/pages.ts";
import type { ListName } from "../../../src/website/operator/paths.ts";
import { listed, views } from "../../../src/website/operator/views/all.ts";
import {
  LAST_PAGE,
  MOST_COUNTED,
  PAGE_ROWS,
  rowsQuery,
} from "../../../src/website/operator/views/query.ts";
import { copies } from "../../helpers/database/copies.ts";
import { rowsScanned } from "../../helpers/database/plans.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { createExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** A list of staff answers from an index: it reads as few rows of a long table as of a short one. */

const USERS = 12_000;
const ROWS = 50_000;
/** Rows of tables that a page may read, and a total: from up to four tables for each. */
const MOST_OF_A_PAGE = 1000;
const MOST_OF_A_TOTAL = 4 * MOST_COUNTED;

let exchange: Exchange;
let ask: Ask;
let statements: { text: string; values?: unknown[] }[] = [];

const next = (column: string, table: string) => `(select max(${column}) from ${table}) + n`;
const newId = { public_id: "core.uuid_v7()" };

/** The tables that grow, and what tells one row of them from another. */
const tables: [table: string, changes: Record<string, string>, rows?: number][] = [
  [
    "identity.users",
    {
      ...{ id: next("id", "identity.users"), ...newId },
      ...{ email: "n || '@copies.example'", handle: "'copy-' || n" },
    },
    USERS,
  ],
  ["trading.traders", { user_id: next("user_id", "trading.traders"), ...newId }, USERS],
  ["catalog.markets", { id: next("id", "catalog.markets"), ...newId }, USERS],
  ["trading.market_state", { market_id: next("market_id", "trading.market_state") }, USERS],
  [
    "trading.trades",
    {
      ...{ id: "nextval('ledger.journal_ids')", ...newId },
      ...{ market_id: "m", taker_user_id: "u1", maker_user_id: "u2" },
    },
  ],
  [
    "trading.ended_orders",
    { id: next("id", "trading.ended_orders"), ...newId, market_id: "m", user_id: "u1" },
  ],
  ["trading.holdings", { market_id: "m", user_id: "u2" }],
  ["trading.order_reductions", { order_id: "n" }],
  [
    "trading.set_conversions",
    {
      ...{ id: next("id", "trading.set_conversions"), market_id: "m", user_id: "u1" },
      journal_id: "nextval('ledger.journal_ids')",
    },
  ],
  ["trading.settlements", { resolution_id: "1 + n % 9", user_id: "u1", market_id: "m" }],
  ["ledger.posted_journals", { id: "nextval('ledger.journal_ids')" }],
  [
    "ledger.posted_entries",
    {
      journal_id: next("id", "ledger.posted_journals") + ` - ${ROWS}`,
      ...{ account_id: "u1 * 4", account_version: "n + 100" },
    },
  ],
  [
    "ledger.cash_movements",
    {
      journal_id: next("id", "ledger.posted_journals") + ` - ${ROWS}`,
      ...{ user_id: "u1", reference: "'copy ' || n" },
    },
  ],
  ["identity.mails", { id: next("id", "identity.mails"), user_id: "u1" }],
  [
    "identity.api_keys",
    {
      ...{ id: next("id", "identity.api_keys"), ...newId, user_id: "u1" },
      key_hash: "'\\x' || encode(sha256(n::text::bytea), 'hex')",
    },
  ],
  [
    "identity.email_claims",
    { user_id: "u1", created_at: "core.now() - n * interval '1 second'" },
    USERS,
  ],
  ["admin.user_notes", { id: next("id", "admin.user_notes"), user_id: "u1" }],
  ["admin.audit_log", { id: next("id", "admin.audit_log") }],
  ["ledger.verifications", { id: next("id", "ledger.verifications") }],
];

/** Trades of 31 days until the last of February 2030, the same number on each. */
const [DAYS, OF_A_DAY] = [31, 1000];
const happened = `'2030-01-29T00:00Z'::timestamptz + (n - 1) / ${OF_A_DAY} * interval '1 day'`;
const ofDays = {
  ...{ id: "nextval('ledger.journal_ids')", created_at: happened },
  public_id: `(left(core.uuid_v7_at(${happened})::text, 14) || substr(core.uuid_v7()::text, 15))::uuid`,
  ...{ market_id: "m", taker_user_id: "u1", maker_user_id: "u2" },
};

/** Rows to copy that no function has made. */
const seeds = `
  insert into trading.order_reductions values (1, 3, 2, core.now());
  insert into identity.mails (kind, address, due_at, sent_at)
    values ('new_key', 'a@b.example', null, core.now());
  insert into identity.email_claims (user_id, email) select max(id), 'a@b.example' from identity.users;
  insert into identity.api_keys (user_id, name, key_hash, key_prefix)
    select max(id), 'a key', sha256(''), 'jk_123456' from identity.users`;

test.before("fill the tables", async () => {
  exchange = await createExchange({ idsAscend: true });
  const { clock, database, makeMarket, makeTraders, operate, place, split, work } = exchange;
  await clock.freeze("2030-01-01T12:00:00Z");
  const [market, over] = [await makeMarket(), await makeMarket()];
  const [ann, bob] = await makeTraders(2);
  for (const one of [market, over]) {
    await place(one, bob, buy("no", 1, 50));
    await place(one, ann, buy("yes", 1, 50));
  }
  await split(market, ann, 5);
  await operate("resolve_market", { market_id: over, outcome: "yes" });
  await operate("add_note", { user_id: ann, note: "a word" });
  await work("verify_ledger");
  await withClient(database.pool, async (client) => {
    // As a subscriber: triggers and references are those of the copied rows.
    await client.query("set session_replication_role = replica");
    await client.query(seeds);
    for (const [table, changes, rows = ROWS] of tables) {
      await client.query(copies(table, changes, { rows, users: USERS }));
    }
    await client.query(copies("trading.trades", ofDays, { rows: DAYS * OF_A_DAY, users: USERS }));
    await client.query("reset session_replication_role");
    await client.query("vacuum analyze");
  });
  // Lists of the last days have none of these.
  await clock.freeze("2030-06-01T12:00:00Z");
  const pool = database.connectAs("exchange_operator", { max: 2 });
  pool.on("connect", note);
  const engine = await makeEngine({ pool, schema: "admin", mutations: true });
  ask = async (query, variables) => {
    const { data, errors } = await engine.execute({ query, variables }, { timezone: "UTC" });
    if (errors !== undefined) throw errors[0]!;
    return { ok: true, data: data as any };
  };
});
test.after.always("drop the exchange", async () => {
  await exchange.database.drop();
});

/** Notes the statements of a session. */
function note(client: PoolClient): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  client.query = ((...args: unknown[]) => {
    const [statement] = args as [string | { text: string; values?: unknown[] }];
    if (typeof statement === "object") statements.push(statement);
    return query(...args);
  }) as typeof client.query;
}

/** How many rows of tables are read for an answer. */
async function rowsOf(answer: () => Promise<{ ok: boolean }>): Promise<number> {
  statements = [];
  const result = await answer();
  if (!result.ok) throw new Error(JSON.stringify(result));
  const asked = statements.filter(({ text }) => text.includes('from "admin"'));
  const rows = [];
  for (const statement of asked) rows.push(await rowsScanned(exchange.database.pool, statement));
  return rows.reduce((sum, count) => sum + count, 0);
}

/** These look at each user. Other reports look at the last days, which have nothing here. */
const ofUsers = ["receivables", "lookalikes"];

for (const [name, view] of Object.entries(views)) {
  test.serial(`${name}: a page, its orders and the total read few rows`, async (t) => {
    const rowsOfPage = (order: string) =>
      rowsOf(() => readPage(ask, view, undefined, { page: 1, order }));
    const [most, inAll] = ofUsers.includes(name)
      ? [6 * USERS, 20 * USERS]
      : [MOST_OF_A_PAGE, MOST_OF_A_TOTAL];
    const first = await rowsOfPage(view.order);
    t.true(first <= most, `${first} rows of the first page`);
    const total = await rowsOf(() => readTotal(ask, view, undefined));
    t.true(total <= inAll, `${total} rows of the total`);
    // Whatever the address names.
    const columns = view.columns.flatMap(({ field, isSorted }) => (isSorted ? [field] : []));
    for (const order of columns.flatMap((field) => [orderBy(field, true), orderBy(field, false)])) {
      const sorted = await rowsOfPage(order);
      t.true(sorted <= inAll + most, `${sorted} rows by ${order}`);
    }
    t.log(first, total);
  });
}

/** A filter by what is typed into its fields. */
const filters: [name: string, typed: Record<string, string>][] = [
  ["orders", { status: "open,partially_filled" }],
  ["orders", { status: "open,partially_filled,scheduled" }],
  ["orders", { status: "partially_filled" }],
  ["orders", { from: "2030-03-01T00:00" }],
  ["orders", { until: "2029-12-01T00:00" }],
  ["trades", { from: "2030-03-01T00:00" }],
  ["trades", { until: "2029-12-01T00:00" }],
];

for (const [name, typed] of filters) {
  test.serial(`${name} by ${JSON.stringify(typed)}: only what fits is read`, async (t) => {
    const view = listed[name as ListName];
    const condition = conditionOf(view, typed);
    const first = await rowsOf(() =>
      readPage(ask, view, condition, { page: 1, order: view.order }),
    );
    const total = await rowsOf(() => readTotal(ask, view, condition));
    t.log(first, total);
    t.true(first <= MOST_OF_A_PAGE, `${first} rows of the first page`);
    t.true(total <= MOST_OF_A_PAGE, `${total} rows of the total`);
  });
}

test.serial(
  "fees by day: a page reads the days that it shows, and brings what all would",
  async (t) => {
    const { clock } = exchange;
    const view = views.feeRevenue;
    await clock.freeze("2030-02-28T12:00:00Z");
    try {
      const wholeList = async (page: number) => {
        const place = { first: PAGE_ROWS, offset: (page - 1) * PAGE_ROWS, orderBy: [view.order] };
        const result = await ask<any>(rowsQuery(view, undefined), place);
        if (!result.ok) throw new Error(JSON.stringify(result));
        return result.data.rows.nodes as unknown[];
      };
      // Of each trade its row, and its market by id and by name.
      for (const [page, days] of [
        [1, 1],
        [40, 1],
        [41, 1 + 4],
        [400, 1 + 4 + 16],
      ] as const) {
        const expected = await wholeList(page);
        t.is(expected.length, PAGE_ROWS);
        const read = async (now: number) => {
          const result = await readPage(ask, view, undefined, { page, order: view.order }, now);
          if (!result.ok) throw new Error(JSON.stringify(result));
          t.deepEqual(result.data, expected, `page ${page}`);
          return result;
        };
        const now = Date.parse("2030-02-28T12:00:00Z");
        const count = await rowsOf(() => read(now));
        t.log(page, count);
        t.true(count <= 4 * days * OF_A_DAY, `${count} rows of page ${page}`);
        // The clock of the browser is slow or fast.
        await read(now - 2 * 86_400_000);
        await read(now + 9 * 86_400_000);
      }
      const condition = conditionOf(view, { day: "2030-02-10" });
      const ofDay = await rowsOf(() =>
        readPage(ask, view, condition, { page: 1, order: view.order }),
      );
      const total = await rowsOf(() => readTotal(ask, view, condition));
      t.true(ofDay <= 4 * OF_A_DAY, `${ofDay} rows of a day`);
      t.true(total <= 12 * OF_A_DAY, `${total} rows of its total`);
    } finally {
      await clock.freeze("2030-06-01T12:00:00Z");
    }
  },
);

test.serial("lines of the ledger within bounds are those of the view", async (t) => {
  const view = views.journals;
  const fields = ["journalKey", "accountKey", "accountVersion"] as const;
  const [{ last }] = (
    await exchange.database.pool.query("select max(id)::int as last from ledger.posted_journals")
  ).rows;
  const cases: [typed: Record<string, string>, where: string][] = [
    [{}, "true"],
    [{ kind: "trade" }, "kind = 'trade'"],
    [{ kind: "deposit" }, "kind = 'deposit'"],
    [{ kind: "none" }, "false"],
    [{ from: "2030-01-01T12:00", kind: "settlement" }, "kind = 'settlement'"],
    [{ until: "2030-01-01T12:00" }, "created_at < '2030-01-01T12:00Z'"],
    [{ journal: String(last) }, `journal_key = ${last}`],
  ];
  for (const [typed, where] of cases) {
    const condition = conditionOf(view, typed);
    for (const [order, direction] of [
      ["JOURNAL_KEY_DESC", "desc"],
      ["JOURNAL_KEY_ASC", "asc"],
    ] as const) {
      for (const page of [1, 2, LAST_PAGE]) {
        const { rows } = await exchange.database.pool.query({
          text: `select x.journal_key::text, x.account_key::text, x.account_version::text
            from admin.journal_entries as x where ${where}
            order by x.journal_key ${direction}, x.account_key ${direction},
              x.account_version ${direction}
            offset ${(page - 1) * PAGE_ROWS} limit ${PAGE_ROWS}`,
          rowMode: "array",
        });
        const result = await readPage(ask, view, condition, { page, order });
        if (!result.ok) throw new Error(JSON.stringify(result));
        const found = result.data.map((row) => fields.map((field) => row[field]));
        t.deepEqual(found, rows, `${JSON.stringify(typed)} ${order} ${page}`);
      }
    }
  }
});
