import test from "ava";
import { ownSession } from "../../helpers/exchange/own_session.ts";
import { linkHashOf } from "../../helpers/exchange/invited_member.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** jobs.remove_sign_ups and remove_mails: what is removed by age. */

const exchange = testExchange(test);
const { clock, operate, work } = exchange;

const DAY = 86_400_000;
const passwordHash = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$c29tZWRpZ2VzdA";

const count = async (table: string): Promise<number> =>
  Number((await exchange.database.pool.query(`select count(*) from ${table}`)).rows[0].count);

async function signUp(name: string): Promise<string> {
  const { rows } = await exchange.api.query(
    `select user_id from api.sign_up(
       email => $1, display_name => $2, handle => $2, password_hash => $3
     )`,
    [`${name}@test.example`, name, passwordHash],
  );
  return rows[0].user_id;
}

test.serial(
  "an account that was not confirmed in 30 days goes, unless it has a history",
  async (t) => {
    await clock.freeze("2030-01-01T12:00:00Z");
    await operate("set_sign_up", { policy: "open" });
    await signUp("idle");
    const rich = await signUp("rich");
    await operate("deposit", { user_id: rich, amount_cents: 100, reference: "gift" });
    const member = await exchange.makeTrader();
    await clock.advance(DAY);
    await signUp("late");
    await clock.advance(29 * DAY - 1);
    t.is(await work("remove_sign_ups"), 0);
    const users = await count("identity.users");
    await clock.advance(1);
    t.is(await work("remove_sign_ups"), 2);
    t.is(await count("identity.users"), users - 1);
    t.is(await count("identity.email_claims"), 1);
    t.is(await count("identity.passwords"), 1);
    t.is(await count("identity.sessions"), 1);
    const { rows } = await exchange.database.pool.query(
      "select public_id as id from identity.users where public_id in ($1, $2)",
      [rich, member],
    );
    t.is(rows.length, 2);
  },
);

test.serial("the dead man's switch of an account goes with it", async (t) => {
  await clock.freeze("2030-02-01T12:00:00Z");
  await operate("set_sign_up", { policy: "open" });
  const user = await signUp("switched");
  await exchange.api.query("select api.set_dead_man(user_id => $1, timeout_ms => 0)", [user]);
  t.is(await count("trading.dead_man_switches"), 1);
  await clock.advance(30 * DAY);
  await work("remove_sign_ups");
  t.is(await count("trading.dead_man_switches"), 0);
  t.deepEqual(await exchange.verify(), []);
});

test.serial("the open orders of an account that ends are cancelled", async (t) => {
  await clock.freeze("2030-03-01T12:00:00Z");
  await operate("set_sign_up", { policy: "open" });
  const market = await exchange.makeMarket();
  for (const name of ["trader-a", "trader-b"]) {
    const user = await signUp(name);
    await operate("deposit", { user_id: user, amount_cents: 10_000, reference: name });
    await operate("set_loss_limits", {
      ...{ user_id: user, day_cents: null, week_cents: null, month_cents: null, immediate: true },
    });
    await exchange.place(market, user, { side: "yes", price: 40, quantity: 10 });
  }
  const open = () => count("trading.active_orders");
  t.is(await open(), 2);
  await clock.advance(30 * DAY);
  await work("remove_sign_ups");
  t.is(await open(), 0);
});

test.serial("an account whose change of address was not confirmed stays", async (t) => {
  await clock.freeze("2030-06-01T12:00:00Z");
  const invitationHash = linkHashOf(await operate("invite_user", { email: "known@test.example" }));
  const { rows } = await exchange.api.query(
    `select user_id from api.sign_up(
       email => 'known@test.example', display_name => 'known', handle => 'known',
       password_hash => $1, invitation_hash => $2
     )`,
    [passwordHash, invitationHash],
  );
  await exchange.api.query(
    `select api.change_email(
       user_id => $1, session_id => $2, email => 'other@test.example', password_hash => $3)`,
    [rows[0].user_id, await ownSession(exchange, rows[0].user_id), passwordHash],
  );
  await clock.advance(31 * DAY);
  await work("remove_sign_ups");
  const kept = await exchange.database.pool.query(
    `select u.email from identity.users as u
     join identity.passwords as p on p.user_id = u.id where u.public_id = $1`,
    [rows[0].user_id],
  );
  t.deepEqual(kept.rows, [{ email: "known@test.example" }]);
  await work("remove_mails");
});

test.serial("mails go after 30 days, and links when they have expired", async (t) => {
  await operate("invite_user", { email: "guest@test.example" });
  t.true((await count("identity.mails")) > 0);
  await clock.advance(14 * DAY - 1);
  t.is(await count("identity.links"), 1);
  await work("remove_mails");
  t.is(await count("identity.links"), 1);
  await clock.advance(1);
  await work("remove_mails");
  t.is(await count("identity.links"), 0);
  await clock.advance(16 * DAY);
  await work("remove_mails");
  t.is(await count("identity.mails"), 0);
});
