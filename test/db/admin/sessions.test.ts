import { randomUUID } from "node:crypto";
import test from "ava";
import { sha256Of } from "../../../src/secrets.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** Sessions: admin.create_session, end_sessions; api.authenticate, create_session_token. */

const exchange = testExchange(test);
const { clock, makeTrader, operate } = exchange;

async function holderOf(kind: string, secret: string): Promise<any> {
  const { rows } = await exchange.api.query(
    `select value ->> 'userId' as user_id, value ->> 'sessionId' as session_id
     from api.authenticate(array[$1], array[$2::bytea], '{null}') as value
     where value is not null`,
    [kind, sha256Of(secret)],
  );
  return rows[0];
}

const ofCookie = (cookie: string) => holderOf("cookie", cookie);
const ofToken = (token: string) => holderOf("token", token);

async function newToken(sessionId: string): Promise<any> {
  const { rows } = await exchange.api.query(
    "select api.create_session_token(session_id => $1) as body",
    [sessionId],
  );
  return rows[0].body;
}

const count = async (table: string) =>
  (await exchange.query(`select count(*) from identity.${table}`))[0].count;

test.serial(
  "a session is found by its cookie until it expires, and stored as a hash",
  async (t) => {
    await clock.freeze("2030-01-01T12:00:00Z");
    const user_id = await makeTrader();
    const cookie: string = await operate("create_session", { user_id, valid_for: "1 hour" });
    t.regex(cookie, /^js_[0-9A-Za-z]{49}$/);
    t.is((await ofCookie(cookie)).user_id, user_id);
    t.is(await ofToken(cookie), undefined, "a cookie is no token");
    await clock.advance(3_599_999);
    t.is((await ofCookie(cookie)).user_id, user_id);
    await clock.advance(1);
    t.is(await ofCookie(cookie), undefined);
  },
);

test.serial("a token is good for five minutes, and no longer than its session", async (t) => {
  await clock.freeze("2030-01-01T12:00:00Z");
  const user_id = await makeTrader();
  const cookie: string = await operate("create_session", { user_id, valid_for: "8 minutes" });
  const { session_id } = await ofCookie(cookie);
  const first = await newToken(session_id);
  t.regex(first.token, /^jt_[0-9A-Za-z]{49}$/);
  t.is(first.expiresAt, "2030-01-01T12:05:00.000Z");
  t.deepEqual(await ofToken(first.token), { user_id, session_id });
  t.is(await ofCookie(first.token), undefined, "a token is no cookie");

  await clock.advance(299_999);
  const second = await newToken(session_id);
  t.is(second.expiresAt, "2030-01-01T12:08:00.000Z");
  t.truthy(await ofToken(first.token), "the former stays good for its time");
  await clock.advance(1);
  t.is(await ofToken(first.token), undefined);
  t.truthy(await ofToken(second.token));
  await clock.advance(180_000);
  t.is(await ofToken(second.token), undefined);
  t.is(await newToken(session_id), null, "the session has expired");
});

test.serial("the end of a session is the end of its tokens, and is announced", async (t) => {
  await clock.release();
  const user_id = await makeTrader();
  const [first, second, third] = await Promise.all(
    [1, 2, 3].map((): Promise<string> => operate("create_session", { user_id })),
  );
  const { session_id } = await ofCookie(first!);
  const { token } = await newToken(session_id);
  t.is(await operate("end_sessions", { user_id, cookie: first }), 1);
  t.is(await ofCookie(first!), undefined);
  t.is(await ofToken(token), undefined);
  t.is(await newToken(session_id), null);
  t.truthy(await ofCookie(second!));
  const rows = await exchange.query(
    "select payload from trading.outbox where channel = 'session_ended'",
  );
  t.deepEqual(rows.at(-1).payload, { sessionId: session_id });

  t.is(await operate("end_sessions", { user_id: await makeTrader(), cookie: second }), 0);
  t.is(await operate("end_sessions", { user_id }), 2);
  t.is(await ofCookie(third!), undefined);
  t.is(await operate("end_sessions", { user_id }), 0);
});

test.serial("a new session removes expired sessions, a new token expired tokens", async (t) => {
  await clock.freeze("2030-01-01T12:00:00Z");
  await exchange.query("delete from identity.sessions");
  const user_id = await makeTrader();
  for (let day = 0; day < 3; day++) {
    const cookie = await operate("create_session", { user_id, valid_for: "1 day" });
    const { session_id } = await ofCookie(cookie);
    for (let turn = 0; turn < 3; turn++) {
      await newToken(session_id);
      await clock.advance(300_000);
    }
    t.is(await count("sessions"), 1);
    t.is(await count("session_tokens"), 1);
    await clock.advance(86_400_000);
  }
});

test("NOT_FOUND: an unknown user", async (t) => {
  const user_id = randomUUID();
  await t.throwsAsync(operate("create_session", { user_id }), { code: "EX017" });
  await t.throwsAsync(operate("end_sessions", { user_id }), { code: "EX017" });
});

for (const valid_for of ["0", "-1 hour", null]) {
  test(`INVALID_REQUEST: a session valid for ${valid_for}`, async (t) => {
    const user_id = await makeTrader();
    await t.throwsAsync(operate("create_session", { user_id, valid_for }), { code: "EX001" });
  });
}
