import test from "ava";
import { call } from "../../../src/database/call.ts";
import { jobs } from "../../../src/database/job_calls.ts";
import { nextMail } from "../../helpers/exchange/next_mail.ts";
import { ownSession } from "../../helpers/exchange/own_session.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** jobs.take_mail: which mail is sent next. */

const exchange = testExchange(test);
const { operate } = exchange;

const emptyOutbox = () => exchange.database.pool.query("delete from identity.mails");

test.afterEach.always("no mail waits, and the clock runs", async () => {
  await emptyOutbox();
  await exchange.clock.release();
});

test.serial("a mail that another worker has locked is passed over, not waited for", async (t) => {
  await operate("invite_user", { email: "first@mails.example" });
  await operate("invite_user", { email: "second@mails.example" });
  const workers = exchange.database.connectAs("exchange_worker", { max: 2 });
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
  const sent: [string, unknown][] = [];
  return await withClient(exchange.workers, async (worker) => {
    for (;;) {
      const mail = await nextMail(worker);
      if (mail === undefined) return sent;
      await call(worker, jobs.finishMail, { mailId: mail.mailId });
      if (mail.address === email) sent.push([mail.kind, JSON.parse(mail.details)]);
    }
  });
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

const notifyOften = (kind: string, userId: string, times: number) =>
  exchange.database.pool.query(
    `select identity.notify_user($1, u.id, json_build_object('number', n))
     from generate_series(1, $3) as n cross join identity.users as u where u.public_id = $2`,
    [kind, userId, times],
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

const passwordHash = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$ZGlnZXN0";
test.before(() => operate("set_sign_up", { policy: "open" }));

const signUp = (email: string, times = 1) =>
  exchange.api.query(
    `select count(api.sign_up(email => $1, password_hash => $2))
     from generate_series(1, $3::int)`,
    [email, passwordHash, times],
  );

const ask = (email: string) =>
  exchange.api.query("select api.request_password_reset(email => $1)", [email]);

/** How many mails to an address wait, and how many of them are due. */
async function waiting(email: string): Promise<{ all: number; due: number }> {
  const { rows } = await exchange.database.pool.query(
    `select count(*)::int as all, (count(*) filter (where due_at <= core.now()))::int as due
     from identity.mails where lower(address) = lower($1) and due_at is not null`,
    [email],
  );
  return rows[0];
}

test.serial(
  "of the sign-ups for an address 100 wait to be mailed, and others beside",
  async (t) => {
    const crowded = "crowded@mails.example";
    await signUp(crowded, 103);
    t.is((await waiting(crowded)).all, 100);
    await signUp(crowded.toUpperCase());
    t.is((await waiting(crowded)).all, 100, "it is the same mailbox");
    await ask(crowded);
    t.is((await waiting(crowded)).all, 101, "of another kind");
    await signUp("other@mails.example");
    t.is((await waiting("other@mails.example")).all, 1);
  },
);

test.serial("who asks again for a mail that waits gets that one, counted from now", async (t) => {
  const { email } = await makeUser();
  await exchange.clock.freeze("2030-02-01T12:00:00Z");
  await ask(email);
  await exchange.clock.advance(60_000);
  for (let number = 0; number < 3; number++) await ask(email.toUpperCase());
  const { rows } = await exchange.database.pool.query(
    `select kind, address, created_at, due_at from identity.mails
     where lower(address) = lower($1)`,
    [email],
  );
  t.deepEqual(rows, [
    {
      kind: "password_reset",
      address: email.toUpperCase(),
      created_at: new Date("2030-02-01T12:01:00Z"),
      due_at: new Date("2030-02-01T12:00:00Z"),
    },
  ]);
});

test.serial("a mailbox without room is put off by one look, and another one is next", async (t) => {
  const [full, other] = ["full@mails.example", "beside@mails.example"];
  await emptyOutbox();
  await exchange.clock.freeze("2030-03-01T12:00:00Z");
  await signUp(full, 60);
  await withClient(exchange.workers, async (worker) => {
    for (let number = 0; number < 5; number++) t.is((await nextMail(worker))?.address, full);
    await exchange.clock.advance(1);
    await signUp(other);
    t.is((await nextMail(worker))?.address, other);
    t.deepEqual(await waiting(full), { all: 60, due: 0 }, "five of them were not finished");
    await exchange.clock.advance(3_600_000);
    t.deepEqual(await waiting(full), { all: 60, due: 60 });
  });
});

test.serial("one call looks at 1,000 mails, and the next one goes on", async (t) => {
  const { email } = await makeUser();
  await emptyOutbox();
  await exchange.clock.freeze("2030-04-01T12:00:00Z");
  // Nobody has these addresses, so there is nothing to send.
  await exchange.api.query(
    `select count(api.request_password_reset(email => 'nobody-' || number || '@mails.example'))
     from generate_series(1, 1100) as number`,
  );
  await exchange.clock.advance(1);
  await ask(email);
  const left = async () =>
    (await exchange.database.pool.query("select from identity.mails where due_at is not null"))
      .rowCount;
  await withClient(exchange.workers, async (worker) => {
    t.is(await nextMail(worker), undefined);
    t.is(await left(), 101);
    t.is((await nextMail(worker))?.address, email);
    t.is(await left(), 1, "until it is finished");
  });
});

test.serial("mails that are put off count, too", async (t) => {
  const limitTo = (requests: number, seconds: number) =>
    operate("set_rate_limit", {
      ...{ bucket: "mail-account", max_requests: requests, window_seconds: seconds },
    });
  await emptyOutbox();
  await exchange.clock.freeze("2030-05-01T12:00:00Z");
  await limitTo(1, 3600);
  for (let number = 0; number < 11; number++) await signUp(`box-${number}@mails.example`, 100);
  t.is((await send("box-0@mails.example")).length, 1);
  await exchange.clock.advance(3_600_000);
  await limitTo(1, 86_400);
  await exchange.clock.advance(1);
  await signUp("last@mails.example");
  const due = async () =>
    (await exchange.database.pool.query("select from identity.mails where due_at <= core.now()"))
      .rowCount;
  await withClient(exchange.workers, async (worker) => {
    t.is(await due(), 11 * 99 + 1);
    t.is(await nextMail(worker), undefined);
    t.is(await due(), 99 + 1, "ten mailboxes are 10 looks and 990 mails");
    t.is((await nextMail(worker))?.address, "last@mails.example");
    t.is(await due(), 0);
  });
  await limitTo(5, 3600);
});

test.serial("a worker of the release before asks for no lane: links come first", async (t) => {
  const { userId, email } = await makeUser();
  await emptyOutbox();
  await signUp("last@mails.example");
  await makeKey(userId, "one");
  await ask(email);
  const kinds: string[] = [];
  for (let number = 0; number < 3; number++) {
    const { rows } = await exchange.workers.query(
      "select kind from jobs.take_mail(token_hash => sha256($1::text::bytea))",
      [number],
    );
    kinds.push(rows[0].kind);
  }
  t.deepEqual(kinds, ["password_reset", "confirm_email", "new_key"]);
});

test.serial("of the lanes that a worker asks for the first one with a mail is next", async (t) => {
  const { userId } = await makeUser();
  await emptyOutbox();
  for (let number = 0; number < 3; number++) await ask((await makeUser()).email);
  await signUp("lanes@mails.example");
  await makeKey(userId, "one");
  await withClient(exchange.workers, async (worker) => {
    const kinds: (string | undefined)[] = [];
    for (const lanes of [
      ["links"],
      ["notices"],
      ["notices"],
      ["notices", "links"],
      ["sign_ups", "links"],
      [],
    ]) {
      kinds.push((await nextMail(worker, { lanes }))?.kind);
    }
    t.deepEqual(kinds, [
      ...["password_reset", "new_key", undefined, "password_reset", "confirm_email", undefined],
    ]);
  });
});

/** Takes mails until one is of this kind. Returns how many were taken. */
async function placeOf(kind: string, email: string): Promise<number> {
  return await withClient(exchange.workers, async (worker) => {
    for (let place = 1; ; place++) {
      const mail = await nextMail(worker);
      if (mail === undefined) return Infinity;
      if (mail.kind === kind && mail.address === email) return place;
      await call(worker, jobs.finishMail, { mailId: mail.mailId });
      await exchange.clock.advance(100);
    }
  });
}

test.serial("a reset is next, however many sign-ups wait", async (t) => {
  const { email } = await makeUser();
  await emptyOutbox();
  await exchange.clock.freeze("2030-06-01T12:00:00Z");
  await exchange.api.query(
    `select count(api.sign_up(email => 'flood-' || number || '@mails.example', password_hash => $1))
     from generate_series(1, 400) as number`,
    [passwordHash],
  );
  await exchange.clock.advance(1);
  await ask(email);
  t.is(await placeOf("password_reset", email), 1);
});

test.serial("400 notices of 8 accounts keep that of another one for a turn each", async (t) => {
  const others = await Promise.all(Array.from({ length: 8 }, makeUser));
  const { userId, email } = await makeUser();
  await emptyOutbox();
  await exchange.clock.freeze("2030-06-02T12:00:00Z");
  for (const other of others) await notifyOften("new_key", other.userId, 50);
  await exchange.clock.advance(1);
  await notify("password_changed", userId, {});
  await exchange.clock.advance(1);
  const place = await placeOf("password_changed", email);
  t.true(place <= 9, `it was number ${place}`);
});

test.serial("keys that a thief makes do not keep the notice of a new password", async (t) => {
  const { userId, email } = await makeUser();
  await emptyOutbox();
  await exchange.clock.freeze("2030-06-03T12:00:00Z");
  await notifyOften("new_key", userId, 50);
  await exchange.clock.advance(1);
  await notify("password_changed", userId, {});
  await exchange.clock.advance(1);
  t.is(await placeOf("password_changed", email), 2);
});

test.serial("each of several mails of a mailbox is sent once, oldest first", async (t) => {
  const { userId, email } = await makeUser();
  await emptyOutbox();
  await exchange.clock.freeze("2030-06-04T12:00:00Z");
  for (let number = 0; number < 5; number++) {
    await notify("new_key", userId, { number });
    await exchange.clock.advance(1);
  }
  t.deepEqual(
    (await send(email)).map(([, details]) => (details as { number: number }).number),
    [0, 1, 2, 3, 4],
  );
});

test.serial("a mail that was not tried yet comes before those that are tried again", async (t) => {
  await exchange.clock.freeze("2030-06-05T12:00:00Z");
  await signUp("tried@mails.example");
  await withClient(exchange.workers, async (worker) => {
    t.is((await nextMail(worker))?.address, "tried@mails.example");
    await exchange.clock.advance(60_000);
    await signUp("new@mails.example");
    t.is((await nextMail(worker))?.address, "new@mails.example");
    t.is((await nextMail(worker))?.address, "tried@mails.example");
  });
});

test.serial("no mail goes to a domain to which one is under way", async (t) => {
  await signUp("one@Stalls.example");
  await signUp("two@elsewhere.example");
  await withClient(exchange.workers, async (worker) => {
    const underWay = ["other@STALLS.example", "third@mails.example"];
    t.is((await nextMail(worker, { underWay }))?.address, "two@elsewhere.example");
    t.is(await nextMail(worker, { underWay }), undefined);
    t.is((await nextMail(worker))?.address, "one@Stalls.example");
  });
});

test.serial("subdomains are of one domain, those of a public suffix are not", async (t) => {
  for (const [address, domain] of [
    ["one@example.com", "example.com"],
    ["one@A.b.Example.COM", "example.com"],
    ["one@a.b.example.co.uk", "example.co.uk"],
    ["one@example.co.uk", "example.co.uk"],
    ["one@co.uk", "co.uk"],
    ["one@mail.web.de", "mail.web.de"],
    ["one@web.de", "web.de"],
    ["one@localhost", "localhost"],
    ["one@odd.example.", "example."],
  ]) {
    const { rows } = await exchange.database.pool.query(
      "select identity.mail_domain($1) as domain",
      [address],
    );
    t.is(rows[0].domain, domain, address);
  }
});

test.serial("a mail that was sent stays sent, whatever another attempt finds", async (t) => {
  await exchange.clock.freeze("2030-06-06T12:00:00Z");
  await signUp("twice@mails.example");
  const mail = async () =>
    (
      await exchange.database.pool.query(
        "select attempts, due_at, sent_at, last_error from identity.mails",
      )
    ).rows;
  await withClient(exchange.workers, async (worker) => {
    const { mailId } = (await nextMail(worker))!;
    await exchange.clock.advance(60_000);
    t.is((await nextMail(worker))?.mailId, mailId, "a worker was lost for a minute");
    await call(worker, jobs.finishMail, { mailId });
    const sent = {
      ...{ attempts: 2, due_at: null, last_error: null },
      sent_at: new Date("2030-06-06T12:01:00Z"),
    };
    t.deepEqual(await mail(), [sent]);
    await exchange.clock.advance(1000);
    await call(worker, jobs.finishMail, { mailId, error: "no answer" });
    t.deepEqual(await mail(), [sent]);
    await call(worker, jobs.finishMail, { mailId });
    t.deepEqual(await mail(), [sent]);
  });
});

test.serial(
  "each sign-in is reported, up to 20 in 24 hours: one does not hide another",
  async (t) => {
    const { userId, email } = await makeUser();
    await emptyOutbox();
    for (const browser of ["a thief's", "the owner's"]) {
      await notify("new_sign_in", userId, { browser });
    }
    t.deepEqual(await send(email), [
      ["new_sign_in", { browser: "a thief's" }],
      ["new_sign_in", { browser: "the owner's" }],
    ]);
    for (let number = 0; number < 30; number++) await notify("new_sign_in", userId, {});
    t.is((await send(email)).length, 18);
  },
);

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
