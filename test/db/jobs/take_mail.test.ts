import test from "ava";
import { call } from "../../../src/database/call.ts";
import { jobs } from "../../../src/database/job_calls.ts";
import { nextMail } from "../../helpers/exchange/next_mail.ts";
import { ownSession } from "../../helpers/exchange/own_session.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** jobs.take_mail: which mail is sent next. */

const exchange = testExchange(test);
const { operate } = exchange;

test.serial("a mail that another worker has locked is passed over, not waited for", async (t) => {
  await operate("invite_user", { email: "first@mails.example" });
  await operate("invite_user", { email: "second@mails.example" });
  const workers = exchange.database.connectAs("exchange_worker");
  const [one, other] = [await workers.connect(), await workers.connect()];
  try {
    await one.query("begin");
    t.is((await nextMail(one))?.address, "first@mails.example");
    await other.query("set lock_timeout = '1 s'");
    t.is((await nextMail(other))?.address, "second@mails.example");
    t.is(await nextMail(other), undefined);
    await one.query("rollback");
    t.is((await nextMail(other))?.address, "first@mails.example");
  } finally {
    await other.query("reset lock_timeout");
    one.release();
    other.release();
  }
});

/** The kinds and details of the mails to an address, in the order in which they are sent. */
async function send(email: string): Promise<[string, unknown][]> {
  const client = await exchange.database.connectAs("exchange_worker").connect();
  const sent: [string, unknown][] = [];
  try {
    for (;;) {
      const mail = await nextMail(client);
      if (mail === undefined) return sent;
      await call(client, jobs.finishMail, { mailId: mail.mailId });
      if (mail.address === email) sent.push([mail.kind, JSON.parse(mail.details)]);
    }
  } finally {
    client.release();
  }
}

async function makeUser(): Promise<{ userId: string; email: string }> {
  const userId = await exchange.makeTrader();
  const { rows } = await exchange.database.pool.query(
    "select email from identity.users where public_id = $1",
    [userId],
  );
  return { userId, email: rows[0].email };
}

async function makeKey(userId: string, name: string): Promise<string> {
  const sessionId = await ownSession(exchange, userId);
  const { rows } = await exchange.api.query(
    "select api.create_key(user_id => $1, session_id => $2, name => $3) ->> 'id' as id",
    [userId, sessionId, name],
  );
  await exchange.api.query("select api.revoke_key(user_id => $1, session_id => $2, key_id => $3)", [
    userId,
    sessionId,
    rows[0].id,
  ]);
  return rows[0].id;
}

const setLimits = async (userId: string, dayCents: number) =>
  exchange.api.query(
    `select api.set_own_limits(
       user_id => $1, session_id => $2, day_cents => $3, week_cents => null, month_cents => null)`,
    [userId, await ownSession(exchange, userId), dayCents],
  );

test.serial("of several notices of a kind that wait the newest is sent", async (t) => {
  const { userId, email } = await makeUser();
  for (const dayCents of [300, 200, 100]) await setLimits(userId, dayCents);
  const sent = await send(email);
  t.deepEqual(
    sent.map(([kind]) => kind),
    ["limits_changed"],
  );
  t.regex(JSON.stringify(sent[0]![1]), /\b100\b/);
  await setLimits(userId, 50);
  t.is((await send(email)).length, 1);
});

test.serial("each new key is reported: one does not hide another", async (t) => {
  const { userId, email } = await makeUser();
  for (const name of ["one", "two", "three"]) await makeKey(userId, name);
  const names = (await send(email)).map(([, details]) => (details as { name: string }).name);
  t.deepEqual(names.toSorted(), ["one", "three", "two"]);
});

const notify = (kind: string, userId: string, details: object) =>
  exchange.database.pool.query(
    `select identity.notify_user($1, u.id, $3) from identity.users as u where u.public_id = $2`,
    [kind, userId, JSON.stringify(details)],
  );

test.serial("each passkey is reported, and no decoys end what matters to an owner", async (t) => {
  const { userId, email } = await makeUser();
  for (const kind of ["passkey_added", "passkey_removed"]) {
    const names = Array.from({ length: 25 }, (_, number) => `key ${number}`);
    for (const name of names) await notify(kind, userId, { name });
    const sent = await send(email);
    t.deepEqual(
      sent.map(([, details]) => (details as { name: string }).name).toSorted(),
      names.toSorted(),
    );
  }
  const addOne = () =>
    exchange.database.pool.query(
      "select identity.check_new_passkey(u.id) from identity.users as u where u.public_id = $1",
      [userId],
    );
  await t.notThrowsAsync(addOne());
  for (let number = 0; number < 25; number++) await notify("passkey_added", userId, {});
  await t.throwsAsync(addOne(), { code: "EX019", message: /50 passkeys in 24 hours/ });
  await send(email);
  for (const kind of ["password_changed", "email_change_asked"]) {
    for (let number = 0; number < 21; number++) {
      await notify(kind, userId, { number });
      t.deepEqual(await send(email), [[kind, { number }]]);
    }
  }
});

test.serial("a link goes to the address of the account, not to what was typed", async (t) => {
  const { email } = await makeUser();
  const typed = email.toUpperCase();
  await exchange.api.query("select api.request_password_reset(email => $1)", [typed]);
  t.deepEqual(
    (await send(email)).map(([kind]) => kind),
    ["password_reset"],
  );
});

test.serial("mails with links are sent before notices", async (t) => {
  const { userId, email } = await makeUser();
  await makeKey(userId, "one");
  await exchange.api.query("select api.request_password_reset(email => $1)", [email]);
  t.deepEqual(
    (await send(email)).map(([kind]) => kind),
    ["password_reset", "new_key"],
  );
});

test.serial(
  "a user gets 20 notices of a kind, and one of each of 100 keys, in 24 hours",
  async (t) => {
    const { userId, email } = await makeUser();
    await exchange.clock.freeze("2030-01-01T12:00:00Z");
    let notices = 0;
    for (let number = 0; number < 30; number++) {
      await setLimits(userId, 1000 - number);
      notices += (await send(email)).length;
    }
    t.is(notices, 20);
    for (let number = 0; number < 100; number++) await makeKey(userId, "key");
    await t.throwsAsync(makeKey(userId, "key"), { message: /100 keys in 24 hours/ });
    const kinds: string[] = [];
    for (let more = await send(email); more.length > 0; more = await send(email)) {
      kinds.push(...more.map(([kind]) => kind));
    }
    t.deepEqual(
      kinds,
      Array.from({ length: 100 }, () => "new_key"),
    );
    await exchange.clock.advance(86_400_000);
    await setLimits(userId, 100);
    t.is((await send(email)).length, 1);
  },
);
