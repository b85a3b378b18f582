import test from "ava";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { jobs } from "../../../src/database/job_calls.ts";
import { nextMail } from "../../helpers/exchange/next_mail.ts";
import { ownSession } from "../../helpers/exchange/own_session.ts";
import { linkHashOf } from "../../helpers/exchange/invited_member.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** What operators set, they can look up: read as exchange_operator, in schema admin. */

const exchange = testExchange(test);
const { amend, clock, look, makeMarket, makeMarketWith, makeTrader, merge, operate } = exchange;
const { place, rest, split } = exchange;

const picture = "01900000-0000-7000-8000-000000000000";

test("admin.verifications: the results of the nightly proof", async (t) => {
  const last = "select * from admin.verifications order by verification_key desc limit 1";
  await exchange.work("verify_ledger");
  const [sound] = await look(last);
  t.like(sound, { broken_count: 0, first_rows: [] });
  t.true(sound.finished_at >= sound.started_at);
  const first_rows = [{ name: "n", object: "o", expected: "1", found: "2" }];
  await exchange.query(
    `insert into ledger.verifications (started_at, finished_at, broken_count, first_rows)
     values ('2040-01-01 03:17Z', '2040-01-01 03:18Z', 1, $1)`,
    [JSON.stringify(first_rows)],
  );
  const [{ verification_key, ...broken }] = await look(last);
  t.true(verification_key > sound.verification_key);
  t.deepEqual(broken, {
    started_at: new Date("2040-01-01T03:17:00Z"),
    finished_at: new Date("2040-01-01T03:18:00Z"),
    broken_count: 1,
    first_rows,
  });
});

test.serial("admin.trading_pause: whether, why and since when", async (t) => {
  const shown = () => look("select is_paused, reason, paused_at from admin.trading_pause");
  const pause = async (at: string, values: Record<string, unknown>) => {
    await clock.freeze(at);
    await operate("set_trading_pause", values);
    return await shown();
  };
  const open = [{ is_paused: false, reason: null, paused_at: null }];
  t.deepEqual(await shown(), open);
  const paused_at = new Date("2040-01-01T10:00:00Z");
  t.deepEqual(await pause("2040-01-01T10:00:00Z", { paused: true, reason: "a feed is down" }), [
    { is_paused: true, reason: "a feed is down", paused_at },
  ]);
  t.deepEqual(await pause("2040-01-01T11:00:00Z", { paused: true, reason: "two are" }), [
    { is_paused: true, reason: "two are", paused_at },
  ]);
  t.deepEqual(await pause("2040-01-01T12:00:00Z", { paused: false, reason: "both are up" }), open);
  t.deepEqual(await pause("2040-01-01T13:00:00Z", { paused: true }), [
    { is_paused: true, reason: null, paused_at: new Date("2040-01-01T13:00:00Z") },
  ]);
  t.deepEqual(await pause("2040-01-01T14:00:00Z", { paused: false }), open);
  await clock.release();
});

test.serial("admin.users: raised loss limits until they are in force", async (t) => {
  await clock.freeze("2040-01-01T10:00:00Z");
  const user_id = await makeTrader({ limits: [100, 200, 300] });
  const shown = async () => {
    const [row] = await look("select * from admin.users where user_id = $1", [user_id]);
    return ["day", "week", "month"].map((period) => [
      row[`${period}_limit_cents`],
      row[`next_${period}_limit_cents`],
      row[`${period}_limit_changes_at`]?.toISOString() ?? null,
    ]);
  };
  const still = [
    [100, null, null],
    [200, null, null],
    [300, null, null],
  ];
  t.deepEqual(await shown(), still);
  // A raise and a removal wait for 24 hours; the lower month holds at once.
  await operate("set_loss_limits", {
    user_id,
    day_cents: 150,
    week_cents: null,
    month_cents: 250,
  });
  const tomorrow = "2040-01-02T10:00:00.000Z";
  const waiting = [
    [100, 150, tomorrow],
    [200, null, tomorrow],
    [250, null, null],
  ];
  t.deepEqual(await shown(), waiting);
  await clock.freeze("2040-01-02T09:59:59.999Z");
  t.deepEqual(await shown(), waiting);
  await clock.freeze(tomorrow);
  t.deepEqual(await shown(), [
    [150, null, null],
    [null, null, null],
    [250, null, null],
  ]);
  await clock.release();
});

test.serial(
  "admin.users: the rate policy in force, as rate_limits.policy_of finds it",
  async (t) => {
    await clock.freeze("2040-01-01T10:00:00Z");
    const user_id = await makeTrader();
    const shown = async () => {
      const [row] = await look(
        `select rate_tier as tier, requests_per_minute, burst_capacity,
         rate_policy_expires_at as expires_at
       from admin.users where user_id = $1`,
        [user_id],
      );
      const rows = await exchange.query("select * from rate_limits.policy_of($1, core.now())", [
        user_id,
      ]);
      t.deepEqual(row, rows[0]);
      return Object.values(row);
    };
    const standard = ["standard", 120, 10, null];
    t.deepEqual(await shown(), standard);
    const expires_at = "2040-01-02T00:00:00Z";
    await operate("set_rate_policy", { user_id, tier: "elevated", expires_at });
    t.deepEqual(await shown(), ["elevated", 600, 50, new Date(expires_at)]);
    await clock.freeze(expires_at);
    t.deepEqual(await shown(), standard);
    await operate("set_rate_policy", {
      ...{ user_id, tier: "custom", requests_per_minute: 7, burst_capacity: 8 },
    });
    t.deepEqual(await shown(), ["custom", 7, 8, null]);
    await operate("set_rate_policy", { user_id, tier: "standard" });
    t.deepEqual(await shown(), standard);
    await clock.release();
  },
);

test("admin.rate_limits and admin.stream_caps: as they were set", async (t) => {
  await operate("set_rate_limit", { bucket: "v1", max_requests: 77, window_seconds: 33 });
  const limits = await look("select * from admin.rate_limits order by bucket");
  t.deepEqual(limits.map(({ bucket }) => bucket).sort(), [
    "graphql",
    ...["mail", "mail-account", "sign-in", "sign-in-account", "sign-in-strangers", "sign-up"],
    ...["sse:market", "sse:user", "sse:user-ip", "unknown-key", "v1", "v1-auth", "v1-cancel-all"],
    "v1-user",
  ]);
  t.deepEqual(
    limits.find(({ bucket }) => bucket === "v1"),
    { bucket: "v1", max_requests: 77, window_seconds: 33 },
  );
  await operate("set_stream_cap", { holder: "user", max_streams: 3 });
  t.deepEqual(await look("select * from admin.stream_caps order by holder"), [
    { holder: "address", max_streams: 200 },
    { holder: "user", max_streams: 3 },
  ]);
});

test("admin.markets and admin.events: description and thumbnail", async (t) => {
  const about = {
    description: "A line\nand another",
    thumbnail_id: picture,
    thumbnail_url: "https://images.example/1.png",
  };
  const columns = "description, thumbnail_id, thumbnail_url";
  const event = await operate("create_event", { title: "E", category: "tests", ...about });
  t.deepEqual(await look(`select ${columns} from admin.events where event_id = $1`, [event]), [
    about,
  ]);
  const market = async (id: string) =>
    await look(`select ${columns} from admin.markets where market_id = $1`, [id]);
  const market_id = await makeMarket(about);
  t.deepEqual(await market(market_id), [about]);
  await operate("edit_market", { market_id, description: "Another" });
  t.deepEqual(await market(market_id), [{ ...about, description: "Another" }]);
  t.deepEqual(await market(await makeMarket()), [
    { description: "", thumbnail_id: null, thumbnail_url: null },
  ]);
});

test("admin.set_conversions, settlements and order_reductions", async (t) => {
  const [market_id, ann, bob] = await makeMarketWith(2);
  await split(market_id, ann, 5);
  await merge(market_id, ann, 2);
  t.deepEqual(
    await look(
      `select user_id, kind, quantity, yes_realised_cents, no_realised_cents
       from admin.set_conversions where market_id = $1 order by conversion_key`,
      [market_id],
    ),
    [
      {
        user_id: ann,
        kind: "split",
        quantity: 5,
        yes_realised_cents: null,
        no_realised_cents: null,
      },
      { user_id: ann, kind: "merge", quantity: 2, yes_realised_cents: 0, no_realised_cents: 0 },
    ],
  );

  const [order] = await rest(market_id, ann, buy("yes", 10, 40));
  await amend(ann, order, { quantity: 7 });
  t.deepEqual(
    await look(
      `select r.quantity_before, r.quantity_after
       from admin.order_reductions as r
       join admin.orders as o using (order_key)
       where o.order_id = $1`,
      [order],
    ),
    [{ quantity_before: 10, quantity_after: 7 }],
  );
  await exchange.cancel(ann, order);

  // Bob makes, so he pays 60 cents for each NO share and no fee; each pays 100.
  await rest(market_id, bob, buy("no", 4, 60));
  await place(market_id, ann, buy("yes", 4, 40));
  await operate("resolve_market", { market_id, outcome: "no" });
  t.deepEqual(
    await look(
      `select side, quantity, payout_cents, cost_cents, fee_cents, realised_cents, is_final
       from admin.settlements where market_id = $1 and user_id = $2`,
      [market_id, bob],
    ),
    [
      {
        ...{ side: "no", quantity: 4, payout_cents: 400, cost_cents: 240, fee_cents: 0 },
        ...{ realised_cents: 160, is_final: true },
      },
    ],
  );
});

test.serial("admin.sign_up: who may sign up, and since when", async (t) => {
  t.deepEqual(await look("select * from admin.sign_up"), [
    { policy: "closed", play_money_cents: 0, changed_at: null },
  ]);
  await clock.freeze("2040-01-01T10:00:00Z");
  await operate("set_sign_up", { policy: "open", play_money_cents: 500 });
  t.deepEqual(await look("select * from admin.sign_up"), [
    { policy: "open", play_money_cents: 500, changed_at: new Date("2040-01-01T10:00:00Z") },
  ]);
  await clock.release();
});

const passwordHash = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$ZGlnZXN0";

test.serial("admin.unconfirmed_emails: of new accounts and of changes", async (t) => {
  await clock.freeze("2040-01-01T11:00:00Z");
  await operate("set_sign_up", { policy: "open" });
  const client = await exchange.api.connect();
  const given = { displayName: "New", passwordHash, isHostOnly: false };
  const fresh = await call(client, api.signUp, { ...given, email: "N@new.example", handle: "new" });
  const invitationHash = linkHashOf(await operate("invite_user", { email: "old@new.example" }));
  const known = await call(client, api.signUp, {
    ...{ ...given, email: "old@new.example", handle: "known", invitationHash },
  });
  await call(client, api.changeEmail, {
    sessionId: await ownSession(exchange, known.userId),
    ...{ userId: known.userId, email: "n@new.example", passwordHash },
  });
  client.release();
  const created_at = new Date("2040-01-01T11:00:00Z");
  t.deepEqual(
    await look(
      `select user_id, email, handle, is_sign_up, created_at
       from admin.unconfirmed_emails order by is_sign_up desc`,
    ),
    [
      {
        user_id: fresh.userId,
        email: "N@new.example",
        handle: "new",
        is_sign_up: true,
        created_at,
      },
      {
        ...{ user_id: known.userId, email: "n@new.example", handle: null, is_sign_up: false },
        created_at,
      },
    ],
  );
  // Until it is confirmed, staff also find a user by it.
  for (const [user_id, text] of [
    [fresh.userId, "N@new.example"],
    [fresh.userId, " new "],
    [known.userId, "n@new.example"],
  ]) {
    const found = "select user_id from admin.users where position($1 in search_text) > 0";
    t.deepEqual(await look(found, [text]), [{ user_id }], text);
  }
  await clock.release();
});

test.serial(
  "admin.mails and its figures: waiting, sent, and given up with the error",
  async (t) => {
    await exchange.query("delete from identity.mails");
    await clock.freeze("2040-01-01T12:00:00Z");
    const figures = async () => {
      const client = await exchange.api.connect();
      try {
        return { ...(await call(client, api.getMailMetrics, {})) };
      } finally {
        client.release();
      }
    };
    t.deepEqual(await figures(), { waitingMails: 0, oldestMailAgeSeconds: 0, failedMails: 0 });
    await operate("invite_user", { email: "one@mails.example" });
    await operate("invite_user", { email: "two@mails.example" });
    await clock.advance(5000);
    t.deepEqual(await figures(), { waitingMails: 2, oldestMailAgeSeconds: 5, failedMails: 0 });
    const worker = await exchange.database.connectAs("exchange_worker").connect();
    const take = () => nextMail(worker);
    const finish = (mailId: number, error?: string) =>
      call(worker, jobs.finishMail, { mailId, ...(error !== undefined && { error }) });
    const [first, second] = [await take(), await take()];
    await finish(first!.mailId);
    await finish(second!.mailId, "550 no such mailbox");
    const shown = () =>
      look(
        `select address, status, attempts, due_at - created_at as after, last_error
       from admin.mails order by mail_key`,
      );
    const [sent, waits] = await shown();
    t.like(sent, { address: first!.address, status: "sent", attempts: 1, last_error: null });
    t.like(waits, { status: "waiting", attempts: 1, last_error: "550 no such mailbox" });
    // The last of ten attempts.
    for (let attempt = 2; attempt <= 10; attempt++) {
      t.is((await shown())[1].status, "waiting");
      await clock.advance(3_600_000);
      await finish((await take())!.mailId, `550 attempt ${attempt}`);
    }
    worker.release();
    const [, failed] = await shown();
    t.like(failed, { status: "given_up", attempts: 10, after: null, last_error: "550 attempt 10" });
    t.deepEqual(await figures(), { waitingMails: 0, oldestMailAgeSeconds: 0, failedMails: 1 });
    await clock.release();
  },
);
