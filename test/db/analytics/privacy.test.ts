import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** What is for operators is in no view of analysts, neither by its name nor by its value. */

const exchange = testExchange(test);
const { clock, makeLiveMarket, makeMarketWith, makeTrader, operate, place, rest } = exchange;

const secrets = {
  email: "secret-mail@test.example",
  displayName: "Secret Name",
  reference: "secret-reference",
  reason: "secret-reason",
  keyName: "secret-key",
  excludedUntil: "2077-07-07",
};
let ann: string;

test.serial.before(async () => {
  await clock.freeze("2030-01-01T12:00:00Z");
  const { email, displayName: display_name, reference, reason, keyName, excludedUntil } = secrets;
  ann = await operate("create_user", { email, display_name, handle: "ann" });
  await operate("set_profile", { user_id: ann, private: true });
  await operate("deposit", { user_id: ann, amount_cents: 100_000, reference });
  await operate("withdraw", { user_id: ann, amount_cents: 1000, reference });
  await operate("give_bonus", {
    name: reference,
    users: JSON.stringify([{ user_id: ann, amount_cents: 1000 }]),
  });
  await operate("adjust_balance", { user_id: ann, amount_cents: -1000, reference, reason });
  await operate("set_loss_limits", {
    ...{ user_id: ann, day_cents: null, week_cents: null, month_cents: null },
  });
  await operate("create_api_key", { user_id: ann, name: keyName });
  await operate("create_staff_key", { name: keyName, role: "analyst" });
  const [market, bob] = await makeMarketWith(1, { cents: 10_000 });
  await rest(market, ann, buy("yes", 10, 40));
  await place(market, bob, buy("no", 5, 60));
  await operate("resolve_market", { market_id: market, outcome: "yes" });
  await operate("correct_resolution", { market_id: market, outcome: "no", reason });
  // One order is ended by the self-exclusion, and one of Bob's by a loss limit.
  const { market: other } = await makeLiveMarket({ live: false });
  await rest(other, ann, buy("yes", 10, 40));
  await rest(other, bob, buy("yes", 10, 41));
  await operate("set_loss_limits", {
    ...{ user_id: bob, day_cents: 0, week_cents: null, month_cents: null, immediate: true },
  });
  const cid = await makeTrader();
  await place(other, cid, buy("no", 1, 59, { timeInForce: "ioc" })).catch(() => undefined);
  await operate("self_exclude", { user_id: ann, until: `${excludedUntil}T00:00:00Z` });
});

async function textOf(schema: "analytics" | "admin"): Promise<string> {
  const role = schema === "admin" ? "exchange_operator" : "exchange_analyst";
  const pool = exchange.database.connectAs(role, { max: 1 });
  const { rows: views } = await exchange.database.pool.query(
    "select viewname as name from pg_views where schemaname = $1",
    [schema],
  );
  if (views.length < 10) throw new Error(`only ${views.length} views are seen`);
  const texts: string[] = [];
  for (const { name } of views) {
    const { rows } = await pool.query(
      `select to_jsonb(x)::text as text from ${schema}.${name} as x`,
    );
    texts.push(...rows.map(({ text }) => text));
  }
  return texts.join("\n");
}

test.serial("operators see each private fact, analysts see none", async (t) => {
  const [operators, analysts] = [await textOf("admin"), await textOf("analytics")];
  for (const [name, secret] of Object.entries(secrets)) {
    t.true(operators.includes(secret), name);
    t.false(analysts.includes(secret), name);
  }
});

test.serial("no column of an analyst's view has the name of a private fact", async (t) => {
  const { rows } = await exchange.database.pool.query(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'analytics'
       and column_name ~ '^reason$|email|reference|excluded|exclusion|audit|argument|operator|staff|hash'`,
  );
  t.deepEqual(rows, []);
});

test.serial(
  "an order that a self-exclusion ended looks like one that was cancelled for the user",
  async (t) => {
    const reasons = async (schema: "analytics" | "admin") =>
      (
        await exchange.database
          .connectAs(schema === "admin" ? "exchange_operator" : "exchange_analyst", { max: 1 })
          .query(
            `select cancel_reason as reason from ${schema}.orders
           where cancel_reason is not null order by order_key`,
          )
      ).rows.map(({ reason }) => reason);
    t.deepEqual(await reasons("admin"), ["market_closed", "self_excluded", "loss_limit"]);
    t.deepEqual(await reasons("analytics"), [
      ...["market_closed", "user_cancelled", "responsible_gaming"],
    ]);
  },
);

test.serial("what a self-exclusion leaves is what an operator's cancelling leaves", async (t) => {
  const analysts = exchange.database.connectAs("exchange_analyst", { max: 1 });
  const [market, excluded, cancelled] = await makeMarketWith(2);
  // Neither has a limit, so nothing but the exclusion could be responsible gaming.
  const limits = { day_cents: null, week_cents: null, month_cents: null, immediate: true };
  for (const user_id of [excluded, cancelled]) {
    await operate("set_loss_limits", { user_id, ...limits });
    await rest(market, user_id, buy("yes", 10, 40), buy("no", 10, 30));
  }
  await operate("self_exclude", { user_id: excluded, until: "2050-01-01T00:00:00Z" });
  await operate("cancel_orders", { user_id: cancelled });
  const seen = async (user: string) => {
    const { rows } = await analysts.query(
      `select to_jsonb(o) - '{order_key,order_id,user_key,user_id}'::text[] as shown
       from analytics.orders as o where user_id = $1 order by order_key`,
      [user],
    );
    return rows.map(({ shown }) => shown);
  };
  const found = await seen(excluded);
  t.deepEqual(found, await seen(cancelled));
  t.deepEqual(
    found.map(({ cancel_reason }) => cancel_reason),
    ["user_cancelled", "user_cancelled"],
  );
  const { rows } = await exchange.database.connectAs("exchange_operator", { max: 1 }).query(
    `select array_agg(distinct cancel_reason order by cancel_reason) as reasons
     from admin.orders where user_id = any ($1)`,
    [[excluded, cancelled]],
  );
  t.deepEqual(rows[0].reasons, ["self_excluded", "user_cancelled"]);
});

test.serial(
  "operators still see which of them it was when the order is in the archive",
  async (t) => {
    await clock.advance(40 * 86_400_000);
    await exchange.work("archive_orders");
    const { rows } = await exchange.database.connectAs("exchange_operator", { max: 1 }).query(
      `select cancel_reason as reason from admin.orders
     where is_archived and user_id = $1 and cancel_reason <> 'market_closed'`,
      [ann],
    );
    t.deepEqual(rows, [{ reason: "self_excluded" }]);
  },
);
