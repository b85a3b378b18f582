import test from "ava";
import { buy } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** admin.export_user: what it has, whose it is, and that no table is forgotten. */

const exchange = testExchange(test);
const { cancel, makeMarketWith, makeTrader, makeTraders, operate, place, query, rest, split } =
  exchange;

const exportOf = (user_id: string): Promise<any> => operate("export_user", { user_id });

/** Of each table with a user or a text about one: the field of the export, or why there is none. */
const held: Record<string, string> = {
  "admin.audit_log": "audit_entries",
  "admin.personal_arguments": "audit_entries",
  "admin.proposed_calls": "proposals",
  "admin.user_notes": "notes",
  "identity.api_keys": "api_keys",
  "identity.email_claims": "unconfirmed_emails",
  "identity.links": "links",
  "identity.mails": "mails",
  "identity.passkeys": "passkeys",
  "identity.passwords": "passwords",
  "identity.sessions": "sessions",
  "identity.users": "user",
  "ledger.cash_movements": "cash_movements",
  "leaderboard.standings": "standings",
  "leaderboard.wins": "wins",
  "rate_limits.rate_policies": "user",
  "risk.limit_changes": "limit_changes",
  "trading.active_orders": "orders",
  "trading.archived_orders": "orders",
  "trading.dead_man_switches": "dead_man_switches",
  "trading.order_stops": "order_stops",
  "trading.disputes": "disputes",
  "trading.ended_orders": "orders",
  "trading.exit_values": "exit_values",
  "trading.holdings": "positions",
  "trading.set_conversions": "set_conversions",
  "trading.settlements": "settlements",
  "trading.traders": "user",
  "trading.trades": "trades",
  "trading.voided_positions": "voided_positions",
};

const notHeld: Record<string, string> = {
  "ledger.proof_leaves": "the cash of one moment; the salt is a secret of the proof",
  "leaderboard.days": "sums of the trades, for the leaderboard",
  "leaderboard.profile_changes": "ids that wait for the next minute",
  "ledger.day_openings": "balances that journal_entries show",
  "rate_limits.allowances": "a counter, removed within minutes",
  "rate_limits.windows": "counters by address, removed within an hour",
  "rate_limits.grants": "counters by address, removed within an hour",
  "rate_limits.open_streams": "a counter of open streams",
  "trading.valued_days": "the last user of a job, and prices",
  "trading.idempotency_keys": "answers about orders, removed after a day",
  "trading.outbox": "news about orders that wait to be sent",
  "trading.sent_events": "news about orders, removed after a day",
  "identity.passkey_challenges": "random bytes",
  "identity.session_tokens": "hashes of tokens",
  "identity.staff": "people who run the exchange",
  "identity.staff_keys": "of staff",
  "identity.staff_passkeys": "of staff",
  "identity.staff_sessions": "of staff",
};

test("each table that may be about a user is in the export, or the list says why not", async (t) => {
  const rows = await query(`
    select distinct c.oid::regclass::text as name
    from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
    join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind in ('r', 'p')
      and not c.relispartition
      and pg_get_userbyid(n.nspowner) = 'exchange_owner'
      and (
        a.attname ~ '(user|taker|maker|trader)s?_(public_)?ids?$|email|address|handle|browser|subject'
        or a.attname = 'session_id'
        or c.relname ~ 'staff|proposed_calls|audit_log'
      )
    order by 1`);
  t.deepEqual(
    rows.map(({ name }) => name),
    [...Object.keys(held), ...Object.keys(notHeld)].sort(),
  );
  const fields = new Set(Object.keys(await exportOf((await makeTraders(1))[0])));
  t.deepEqual(
    Object.values(held).filter((field) => !fields.has(field)),
    [],
  );
});

test("it has what is about the user, and nothing about another", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 3, 40), buy("no", 1, 2));
  await place(market, bob, buy("yes", 3, 60));
  for (const user_id of [ann, bob]) {
    await operate("add_note", { user_id, note: `about ${user_id}` });
    await operate("create_api_key", { user_id, name: `key of ${user_id}` });
    await operate("create_session", { user_id });
    await operate("freeze_user", {
      user_id,
      reason: `why ${user_id}`,
      cancel_orders: false,
      keep_sessions: true,
    });
  }
  await operate("resolve_market", { market_id: market, outcome: "no" });
  const found = await exportOf(ann);
  t.false(JSON.stringify(found).includes(bob), "the other trader is not in it");
  t.is(found.user.user_id, ann);
  t.is(found.notes[0].note, `about ${ann}`);
  t.is(found.api_keys[0].name, `key of ${ann}`);
  t.is(found.sessions.length, 1);
  t.is(found.orders.length, 2);
  t.is(found.settlements[0].payout_cents, 300);
  t.is(found.cash_movements[0].amount_cents, 100_000);
  const [trade] = found.trades;
  t.is(trade.maker_user_id, ann);
  t.is(trade.quantity, 3);
  t.false("taker_user_id" in trade);
  t.deepEqual(
    found.audit_entries
      .map(({ action }: any) => action)
      .filter((a: string) => a !== "set_loss_limits"),
    [
      "create_user",
      "deposit",
      "add_note",
      "create_api_key",
      "create_session",
      "freeze_user",
      "export_user",
    ],
  );
  t.is(
    found.audit_entries.find(({ action }: any) => action === "freeze_user").arguments.reason,
    `why ${ann}`,
  );
  for (const [field, value] of Object.entries(found)) {
    if (!["exported_at", "user"].includes(field)) t.true(Array.isArray(value), field);
  }
});

test("no secret is in it", async (t) => {
  const user_id = await makeTrader();
  const key: string = await operate("create_api_key", { user_id, name: "bot" });
  const cookie: string = await operate("create_session", { user_id });
  await operate("sign_in_link", { user_id });
  const text = JSON.stringify(await exportOf(user_id));
  t.false(text.includes(key) || text.includes(cookie));
  t.notRegex(text, /"[a-z_]*(hash|token|credential_id|public_key|salt|secret)"/);
});

test("an array of more than 50,000 rows is left out, and the others are there", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 3, 40));
  await place(market, bob, buy("yes", 3, 60));
  await cancel(ann, (await rest(market, ann, buy("no", 1, 2)))[0]);
  await split(market, ann, 1);
  await exchange.withRollback(async (client) => {
    const orders = async (more: number) => {
      // Copies of the order that is cancelled.
      await client.query("set local session_replication_role = replica");
      await client.query(
        `insert into trading.ended_orders
         select c.*
         from trading.ended_orders as e
         cross join generate_series(1, $2) as g (number)
         cross join jsonb_populate_record(e, jsonb_build_object(
           'id', (select min(x.id) from trading.ended_orders as x) - g.number,
           'public_id', gen_random_uuid()
         )) as c
         where e.filled_quantity = 0
           and e.user_id = (select u.id from identity.users as u where u.public_id = $1)
         order by e.id desc
         limit $2`,
        [ann, more],
      );
      await client.query("set local session_replication_role = origin");
      const { rows } = await client.query("select admin.export_user($1) as export", [ann]);
      return rows[0].export;
    };
    const full = await orders(50_000 - 2);
    t.deepEqual(full.left_out, []);
    t.is(full.orders.length, 50_000);
    const { orders: none, ...found } = await orders(1);
    t.deepEqual(found.left_out, ["orders"]);
    t.is(none, null);
    t.is(found.trades.length, 1);
    t.is(found.set_conversions.length, 1);
    t.is(found.cash_movements.length, 1);
    t.is(found.journal_entries.length, full.journal_entries.length);
  });
});

test("as many rows as are exported of each view fit into a jsonb", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 3, 40));
  await place(market, bob, buy("yes", 3, 60));
  await split(market, ann, 1);
  await operate("resolve_market", { market_id: market, outcome: "no" });
  let bytes = 0;
  for (const view of [
    ...["orders", "trades", "set_conversions", "settlements", "cash_movements", "journal_entries"],
  ]) {
    const [{ size }] = await query(
      `select max(pg_column_size(to_jsonb(v))) as size from admin.${view} as v`,
    );
    t.true(size > 200, view);
    bytes += Number(size);
  }
  t.true(bytes * 50_000 < 0.75 * 2 ** 28, `${bytes} bytes`);
});

test("NOT_FOUND: an unknown user", async (t) => {
  await t.throwsAsync(exportOf("01900000-0000-7000-8000-000000000000"), { code: "EX017" });
});
