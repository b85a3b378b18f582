import test from "ava";
import { withClient } from "../helpers/database/test_database.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { callBy, makeStaff } from "../helpers/exchange/staff.ts";
import { sealAll } from "../helpers/exchange/sealed_history.ts";
import { verifyRows } from "../helpers/database/invariants.ts";
import { assertionOf, attestationOf, makePasskey } from "../helpers/http/authenticator.ts";
import { callService, testService } from "../helpers/http/test_service.ts";
import { makeVisitor, takeMails } from "../helpers/http/visitor.ts";
import type { Visitor } from "../helpers/http/visitor.ts";

/** A person leaves words nobody else uses wherever a person can; after the erasure none is found. */

const service = testService(test, { limited: true, playMoneyCents: 0 });
const { operate } = service;

/** In every word that the person, or staff about the person, gives. */
const CANARY = "quetzal";
const addresses = ["198.51.100.201", "198.51.100.202", "2001:db8:ca11::a27"];
const [home, office, abroad] = addresses as [string, string, string];
const marks = new RegExp([CANARY, ...addresses].join("|"), "i");

const word = (place: string): string => `${CANARY}-${place}`;
const mail = (place: string): string => `${CANARY}.${place}@${CANARY}.example`;
const password = `a long ${CANARY} battery`;
const from = (address: string) => ({ "x-forwarded-for": address });
const siteOf = () => ({ origin: service.url, rpId: new URL(service.url).hostname });

const query = async (statement: string, values: unknown[] = []): Promise<any[]> =>
  (await service.database.pool.query(statement, values)).rows;

async function sent(kind: string): Promise<string> {
  const mails = await takeMails(service.worker);
  const token = mails.find((one) => one.kind === kind)?.token;
  if (token === undefined) throw new Error(`no ${kind}: ${JSON.stringify(mails)}`);
  return token;
}

/** A request that must succeed. */
async function done(visitor: Visitor, method: string, path: string, body?: object, address = home) {
  const answer = await visitor.call(method, path, { body, headers: from(address) });
  if (answer.status >= 300) {
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return answer.body;
}

/**
 * The tables and rows that hold a word of the person, of every schema that is not PostgreSQL's: what a
 * dump would have.
 */
async function found(): Promise<string[]> {
  const tables = await query(
    `select c.oid::regclass::text as name
     from pg_class as c
     join pg_namespace as n on n.oid = c.relnamespace
     where c.relkind in ('r', 'm')
       and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
       and c.relpersistence <> 't'
     order by 1`,
  );
  const hits: string[] = [];
  for (const { name } of tables) {
    const rows = await query(`select t::text as line from ${name} as t where t::text ~* $1`, [
      marks.source,
    ]);
    hits.push(...rows.map(({ line }) => `${name}: ${line}`));
  }
  return hits;
}

async function signUp(): Promise<{ visitor: Visitor; userId: string }> {
  await operate("invite_user", { email: mail("first") });
  await takeMails(service.worker);
  const visitor = makeVisitor(service, word("browser"));
  const person = {
    ...{ email: mail("first"), displayName: word("signed-up"), handle: word("handle"), password },
  };
  const { userId } = await done(visitor, "POST", "/api/account/sign-up", person);
  const token = await sent("confirm_email");
  await done(visitor, "POST", "/api/account/email/confirm", { token });
  return { visitor, userId };
}

/** Everything that the pages let a user name. */
async function live(visitor: Visitor): Promise<string> {
  await done(visitor, "PATCH", "/api/account/profile", {
    displayName: word("name"),
    avatarUrl: `https://pictures.example/${word("picture")}`,
  });
  const limits = { dayCents: null, weekCents: null, monthCents: null };
  await done(visitor, "PUT", "/api/account/limits", limits);
  const options = await done(visitor, "POST", "/api/account/passkeys/options");
  const passkey = makePasskey(options.user.id);
  const credential = attestationOf(passkey, { ...siteOf(), challenge: options.challenge });
  await done(visitor, "POST", "/api/account/passkeys", { name: word("passkey"), credential });
  const { key } = await done(visitor, "POST", "/api/account/keys", {
    ...{ name: word("key"), allowedAddresses: [`${office}/32`, `${abroad}/128`] },
  });
  for (const address of [office, abroad]) {
    const headers = from(address);
    await callService(service.url, "GET", "/api/v1/me", { key, headers });
    await operate("run_due", {});
  }
  const asked = await done(visitor, "POST", "/api/account/sign-in-passkey/options");
  const assertion = assertionOf(passkey, { ...siteOf(), challenge: asked.challenge });
  const other = makeVisitor(service, word("other-browser"));
  await done(other, "POST", "/api/account/sign-in-passkey", { credential: assertion }, abroad);
  await done(other, "POST", "/api/account/sign-in", { email: mail("first"), password }, office);
  // Attempts that fail, and mails that are asked for.
  for (const email of [mail("first"), mail("unknown")]) {
    const headers = from(abroad);
    const body = { email, password: word("wrong") };
    await makeVisitor(service, word("stranger")).call("POST", "/api/account/sign-in", {
      ...{ body, headers },
    });
    await makeVisitor(service).call("POST", "/api/account/password-reset", {
      ...{ body: { email }, headers },
    });
  }
  await done(visitor, "POST", "/api/account/email", { email: mail("second"), password });
  const token = await sent("confirm_email");
  await done(visitor, "POST", "/api/account/email/confirm", { token });
  await done(visitor, "POST", "/api/account/email", { email: mail("third"), password });
  return key;
}

/** Everything that staff may write about a user. */
async function staffWrites(user_id: string): Promise<void> {
  const operators = service.database.connectAs("exchange_operator");
  const staff = [];
  for (let count = 0; count < 2; count++) {
    const exchange = { api: service.pool, database: service.database, operate: operate as any };
    staff.push(await makeStaff(exchange, ["users", "staff"]));
  }
  const [one, other] = staff.map(({ cookieHash }) => cookieHash) as [Buffer, Buffer];
  const propose = (command: string, values: object) =>
    callBy(operators, one, "propose", {
      ...{ command, arguments: JSON.stringify({ user_id, ...values }), reason: word("why") },
    });
  await operate("add_note", { user_id, note: word("note") });
  await operate("set_profile", {
    ...{ user_id, display_name: word("by-staff"), avatar_url: `https://x.example/${CANARY}` },
  });
  await operate("create_api_key", {
    ...{ user_id, name: word("staff-key"), allowed_addresses: [office] },
  });
  // These name the key alone.
  const [rotation] = await query(
    "select json_build_object('key_id', public_id) as call from identity.api_keys where name = $1",
    [word("staff-key")],
  );
  const rotations: string[] = [];
  for (const why of [word("rotate"), word("rotate-again")]) {
    rotations.push(
      await callBy(operators, one, "propose", {
        ...{ command: "rotate_api_key", arguments: JSON.stringify(rotation.call), reason: why },
      }),
    );
  }
  await callBy(operators, other, "reject", { proposal_id: rotations[0], reason: word("not-now") });
  // As the audit wrote it before it said whom such a proposal is about.
  await withClient(service.database.pool, async (client) => {
    await client.query("set session_replication_role = replica");
    const { rows } = await client.query(
      `update admin.audit_log set arguments = arguments - 'user_id'
       where arguments ->> 'proposal_id' = $1 returning id`,
      [rotations[1]],
    );
    await client.query(
      "update admin.personal_arguments set user_id = null where audit_id = any ($1)",
      [rows.map(({ id }) => id)],
    );
    await client.query("reset session_replication_role");
  });
  await operate("freeze_user", { user_id, reason: word("freeze") });
  await operate("unfreeze_user", { user_id, reason: word("unfreeze") });
  await operate("self_exclude", { user_id, until: "2090-01-01T00:00:00Z" });
  const ending = await propose("end_self_exclusion", { reason: word("mistake") });
  await callBy(operators, other, "approve", { proposal_id: ending });
  const rejected = await propose("recover_account", { email: mail("rejected") });
  await callBy(operators, other, "reject", { proposal_id: rejected, reason: word("no") });
  await propose("recover_account", { email: mail("left-open") });
  await operate("recover_account", { user_id, email: mail("recovered") });
  await operate("freeze_user", { user_id, reason: word("again") });
  await operate("sign_in_link", { user_id });
}

test.serial("before: the person is found nowhere", async (t) => {
  t.deepEqual(await found(), []);
});

test.serial(
  "a person who has left words everywhere is found nowhere after erase_user",
  async (t) => {
    const { visitor, userId } = await signUp();
    const key = await live(visitor);

    // Trades, and is paid out.
    await operate("deposit", { user_id: userId, amount_cents: 1000, reference: "transfer 7" });
    const market = await service.makeMarket();
    const other = await service.makeTrader();
    await service.place(other, market, { side: "no", price: 40, quantity: 5 });
    await query("update identity.api_keys set allowed_addresses = null where name = $1", [
      word("key"),
    ]);
    await service.place({ userId, key }, market, { side: "yes", price: 60, quantity: 5 });
    await operate("resolve_market", { market_id: market, outcome: "no" });
    await query("update identity.api_keys set allowed_addresses = $2 where name = $1", [
      word("key"),
      [`${office}/32`, `${abroad}/128`],
    ]);
    const [{ cents }] = await query(
      "select balance_cents as cents from trading.traders where public_id = $1",
      [userId],
    );
    await operate("withdraw", { user_id: userId, amount_cents: cents, reference: "payout 7" });

    const { handle } = await done(visitor, "GET", "/api/account");
    t.is(handle, word("handle"));
    await staffWrites(userId);
    await makeVisitor(service, word("late")).call("POST", "/api/account/sign-in", {
      body: { email: mail("recovered"), password },
      headers: from(office),
    });
    await withClient(service.database.pool, (client) => sealAll(client as any, 50));
    const before = (await found()).map((hit) => hit.split(":")[0]);
    for (const table of [
      ...["admin.personal_arguments", "admin.proposed_calls", "admin.user_notes"],
      ...["identity.api_keys", "identity.mails", "identity.users", "trading.traders"],
    ]) {
      t.true(before.includes(table), `${table}: ${[...new Set(before)].join(", ")}`);
    }
    t.false(before.includes("admin.audit_log"), "nothing of a person is ever sealed");

    const [sealed] = await query(
      "select number, encode(hash, 'hex') as hash from ledger.blocks order by 1 desc limit 1",
    );
    await operate("erase_user", { user_id: userId, reason: "asked for in ticket 7" });
    // What counts requests of network addresses goes by itself: an hour at most.
    await testClock(service.database.pool).advance(2 * 3_600_000);
    await service.worker.query("select jobs.remove_counters()");
    t.deepEqual(await found(), []);
    t.deepEqual(
      service.log.filter((line) => marks.test(line)),
      [],
    );

    t.deepEqual(await withClient(service.database.pool, verifyRows), []);
    t.deepEqual(await query('select * from ledger.verify("full" => true)'), []);
    const [kept] = await query("select c.* from ledger.compare_head($1, $2) as c", [
      sealed.number,
      sealed.hash,
    ]);
    t.is(kept.result, "in the chain");

    // No way back in, by anything that the person had.
    for (const email of ["first", "second", "recovered"].map(mail)) {
      const { status } = await makeVisitor(service).call("POST", "/api/account/sign-in", {
        ...{ body: { email, password }, headers: from("192.0.2.1") },
      });
      t.is(status, 401);
    }
    t.is(await visitor.token(), undefined);
    t.is((await callService(service.url, "GET", "/api/v1/me", { key })).status, 401);
    const again = await signUp();
    t.not(again.userId, userId, "the address and the handle are free for a new account");
  },
);
