import test from "ava";
import { buy } from "../../helpers/exchange/orders.ts";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** What operators make: categories, events, markets, users. */

const exchange = testExchange(test);
const { makeMarket, market, operate, query } = exchange;

const nothing = "01900000-0000-7000-8000-000000000000";

test.serial("a category returns its slug and comes last by default", async (t) => {
  t.is(await operate("create_category", { slug: "one", name: "One" }), "one");
  await operate("create_category", { slug: "first", name: "First", position: 0 });
  await operate("create_category", { slug: "two", name: "Two" });
  const slugs = await query(`select slug from catalog.categories order by "position", id`);
  t.deepEqual(
    slugs.map(({ slug }) => slug),
    ["first", "tests", "one", "two"],
  );
});

test("ALREADY_EXISTS: a category of the same slug", async (t) => {
  await t.throwsAsync(operate("create_category", { slug: "tests", name: "Again" }), {
    code: "EX018",
  });
});

test("a slug is URL-safe and not the word all", async (t) => {
  for (const slug of ["all", "Upper", "with space", "ü", "", "-a", "a--b", "a/b"]) {
    await t.throwsAsync(operate("create_category", { slug, name: "Name" }), {
      message: /^The slug must have/,
    });
  }
});

test("a category at the highest position leaves room for another one", async (t) => {
  await operate("create_category", { slug: "highest", name: "x", position: 2_147_483_647 });
  t.is(await operate("create_category", { slug: "another", name: "x" }), "another");
});

test("a market names its event, if it has one", async (t) => {
  const event = await operate("create_event", { title: "Election", category: "tests" });
  const id = await operate("create_market", {
    title: `Who "wins"? \\ / \u{1f3c6} ü`,
    category: "tests",
    description: "Line one\nLine two",
    event_id: event,
    close_time: "2090-01-01T00:00:00Z",
    thumbnail_id: nothing,
    thumbnail_url: "https://images.example/1.png",
  });
  t.like(await market(id), {
    id,
    title: `Who "wins"? \\ / \u{1f3c6} ü`,
    description: "Line one\nLine two",
    category: "tests",
    eventId: event,
    status: "open",
    closeTime: "2090-01-01T00:00:00.000Z",
    thumbnailId: nothing,
    thumbnailUrl: "https://images.example/1.png",
    version: 0,
  });
  const alone = await operate("create_market", { title: "Alone", category: "tests" });
  t.like(await market(alone), { eventId: null, description: "", closeTime: null });
});

test("NOT_FOUND: an unknown category or event", async (t) => {
  for (const [name, values] of [
    ["create_event", { title: "E", category: "nowhere" }],
    ["create_market", { title: "M", category: "nowhere" }],
    ["create_market", { title: "M", category: "tests", event_id: nothing }],
    ["set_event_live", { event_id: nothing, live: true }],
    ["edit_event", { event_id: nothing, title: "Final" }],
    ["set_profile", { user_id: nothing, private: true }],
    ["set_loss_limits", { user_id: nothing, day_cents: null, week_cents: null, month_cents: null }],
  ] as const) {
    await t.throwsAsync(operate(name, values), { code: "EX017" }, name);
  }
});

test("an event is edited: null leaves a value, and the audit has the one before", async (t) => {
  const event_id = await operate("create_event", {
    ...{ title: "Final", category: "tests", description: "On Sunday." },
  });
  const now = async () =>
    (
      await query(`select title, description from catalog.events where public_id = '${event_id}'`)
    )[0];
  await operate("edit_event", { event_id, title: "The final" });
  t.deepEqual(await now(), { title: "The final", description: "On Sunday." });
  await operate("edit_event", { event_id, description: "On Monday." });
  t.deepEqual(await now(), { title: "The final", description: "On Monday." });
  const [audited] = await query(
    `select arguments -> 'before' as before from admin.audit_log
     where action = 'edit_event' and arguments ->> 'event_id' = '${event_id}'
     order by id desc limit 1`,
  );
  t.deepEqual(audited.before, {
    ...{ title: "The final", description: "On Sunday.", starts_at: null, ends_at: null },
    category: "tests",
    exclusive: false,
  });
  await t.throwsAsync(operate("edit_event", { event_id, title: " " }), { code: "EX001" });
});

test("the times of an event are edited: the end stays behind the start", async (t) => {
  const [noon, one, two] = [12, 13, 14].map((hour) => `2090-01-01T${hour}:00:00.000Z`);
  const event_id = await operate("create_event", {
    ...{ title: "Final", category: "tests", starts_at: noon, ends_at: one },
  });
  await operate("edit_event", { event_id, ends_at: two });
  await t.throwsAsync(operate("edit_event", { event_id, starts_at: two }), { code: "EX001" });
  await t.throwsAsync(operate("edit_event", { event_id, ends_at: "infinity" }), { code: "EX001" });
  await operate("edit_event", { event_id, starts_at: one });
  const [times] = await query(
    `select starts_at, ends_at from catalog.events where public_id = '${event_id}'`,
  );
  t.deepEqual(times, { starts_at: new Date(one!), ends_at: new Date(two!) });
});

test("a market that is made without being open takes orders once it is opened", async (t) => {
  const id = await makeMarket({ open: false });
  t.is((await market(id)).status, "paused");
  const trader = await exchange.makeTrader();
  t.is(await exchange.refusal(id, trader, buy("yes", 1, 1)), "MARKET_NOT_OPEN");
  await operate("set_market_status", { market_id: id, status: "open" });
  await exchange.rest(id, trader, buy("yes", 1, 1));
  await t.throwsAsync(makeMarket({ open: null }), { code: "EX001" });
});

test("an event goes live and back, and keeps its delay unless given one", async (t) => {
  const event_id = await operate("create_event", {
    title: "Final",
    category: "tests",
    live_delay_ms: 5000,
  });
  const now = async () =>
    (
      await query(`select live, live_delay_ms from catalog.events where public_id = '${event_id}'`)
    )[0];
  t.deepEqual(await now(), { live: false, live_delay_ms: 5000 });
  await operate("set_event_live", { event_id, live: true });
  t.deepEqual(await now(), { live: true, live_delay_ms: 5000 });
  await operate("set_event_live", { event_id, live: false, live_delay_ms: 1000 });
  t.deepEqual(await now(), { live: false, live_delay_ms: 1000 });
});

test("a user has an account with nothing in it, and limits not reviewed", async (t) => {
  const id = await operate("create_user", {
    email: "new@test.example",
    display_name: "New",
    handle: "new",
  });
  const client = await exchange.api.connect();
  const account = JSON.parse(await call(client, api.getAccount, { userId: id }));
  client.release();
  t.like(account, { id, email: "new@test.example", displayName: "New", balance: 0 });
  t.deepEqual(Object.keys(account), ["id", "displayName", "email", "balance", "createdAt"]);
  const one = await operate("create_market", { title: "M", category: "tests" });
  const code = await exchange.refusal(one, id, { side: "yes", price: 1, quantity: 1 });
  t.is(code, "LIMITS_SETUP_REQUIRED");
});

test("ALREADY_EXISTS: an email or handle that is taken, whatever its case", async (t) => {
  await operate("create_user", { email: "Al@test.example", display_name: "Al", handle: "Al" });
  for (const values of [
    { email: "al@TEST.example", display_name: "Other", handle: "other" },
    { email: "other@test.example", display_name: "Other", handle: "aL" },
  ]) {
    await t.throwsAsync(operate("create_user", values), { code: "EX018" });
  }
});

test("a profile changes only the given fields", async (t) => {
  const user_id = await exchange.makeTrader();
  const profile = async () =>
    (
      await query(
        `select display_name, avatar_url, private, leaderboard_opt_out as opt_out
         from identity.users where public_id = '${user_id}'`,
      )
    )[0];
  await operate("set_profile", {
    user_id,
    display_name: "Renamed",
    avatar_url: "https://a.example",
  });
  await operate("set_profile", { user_id, private: true });
  await operate("set_profile", { user_id, leaderboard_opt_out: true });
  await operate("set_profile", { user_id, private: false });
  t.deepEqual(await profile(), {
    display_name: "Renamed",
    avatar_url: "https://a.example",
    private: false,
    opt_out: true,
  });
});

test("an address of a picture begins with https://, and an empty one removes the picture", async (t) => {
  const user_id = await exchange.makeTrader();
  const kept = async () =>
    (
      await query(
        `select u.avatar_url, api.get_own_profile(u.public_id) -> 'avatarUrl' as shown
         from identity.users as u where u.public_id = '${user_id}'`,
      )
    )[0];
  const start = "https://a.example/";
  const longest = start + "a".repeat(2000 - start.length);
  await operate("set_profile", { user_id, avatar_url: longest });
  for (const avatar_url of [
    ...["javascript:alert(1)", "data:image/png;base64,AA", "http://a.example/a.png", "a.png", " "],
    ...["https://", `https://a.example/"onload="`, "https://a.example/a b", `${longest}a`],
    ...[" https://a.example", "x\nhttps://a.example", "https://a.example\n"],
  ]) {
    const error = await t.throwsAsync<Error & { detail: string }>(
      operate("set_profile", { user_id, avatar_url, display_name: "Not kept" }),
      { code: "EX001", message: /^The address of the picture must begin with https:\/\// },
      avatar_url,
    );
    t.is(error.detail, "INVALID_REQUEST");
  }
  t.deepEqual(await kept(), { avatar_url: longest, shown: longest });
  await operate("set_profile", { user_id, private: true });
  t.deepEqual(await kept(), { avatar_url: longest, shown: longest });
  await operate("set_profile", { user_id, avatar_url: "" });
  t.deepEqual(await kept(), { avatar_url: null, shown: null });
  t.deepEqual(await query("select * from ledger.verify()"), []);
});

test("INVALID_REQUEST: a loss limit below 0", async (t) => {
  const user_id = await exchange.makeTrader({ reviewed: false });
  for (const limits of [
    { day_cents: -1, week_cents: null, month_cents: null },
    { day_cents: null, week_cents: -1, month_cents: null },
    { day_cents: 5, week_cents: 5, month_cents: -1 },
  ]) {
    await t.throwsAsync(operate("set_loss_limits", { user_id, ...limits }), { code: "EX001" });
  }
});

test("a title with quotes, backslashes and beyond ASCII comes back as it was, in lists too", async (t) => {
  const title = `"Quoted" \\ back\tslash \u{1f3c6} </script>`;
  const one = await operate("create_market", { title, category: "tests" });
  const ann = await exchange.makeTrader();
  const [id] = await exchange.rest(one, ann, { side: "yes", price: 1, quantity: 1 });
  t.is((await exchange.order(ann, id)).marketTitle, title);
});

test("INVALID_REQUEST: what a constraint refuses is said in words, without the row", async (t) => {
  const user_id = await exchange.makeTrader();
  const event = { title: "x", category: "tests" };
  const user = { email: "a@b", display_name: "x", handle: "constraint" };
  const policy = { user_id, requests_per_minute: 1, burst_capacity: 1 };
  const key = { user_id, name: "x" };
  const tooMany = Array.from({ length: 21 }, (_, index) => `192.0.2.${index}`);
  const refused: [string, Record<string, unknown>, RegExp][] = [
    ["create_category", { slug: "Bad Slug", name: "x" }, /^The slug must have from 1 to 60 char/],
    ["create_category", { slug: "nameless", name: null }, /^A value is required for name$/],
    ["create_category", { slug: "blank", name: " " }, /^The name must not be blank/],
    ["create_event", { ...event, title: " " }, /^The title must not be blank or longer than 300/],
    ["create_event", { ...event, live_delay_ms: -1 }, /^The live delay must be from 0 to 60000/],
    [
      "create_event",
      { ...event, starts_at: "2040-01-02", ends_at: "2040-01-01" },
      /^The event must end after it starts$/,
    ],
    ["create_market", { ...event, title: "" }, /^The title must not be blank or longer than 300/],
    ["create_market", { ...event, title: "x".repeat(301) }, /^The title must not .* longer/],
    ["create_user", { ...user, email: "no" }, /^The e-mail address must look like name@domain/],
    ["create_user", { ...user, handle: "a b" }, /^The handle must have from 1 to 40 characters/],
    ["set_profile", { user_id, display_name: " " }, /^The display name must not be blank/],
    ["create_api_key", { user_id, name: "" }, /^The name must not be blank/],
    ["create_api_key", { ...key, scopes: ["read", "read"] }, /^The scopes must be read, trade or/],
    ["create_api_key", { ...key, scopes: ["admin"] }, /^The scopes must be read, trade or both/],
    ["create_api_key", { ...key, scopes: [] }, /^The scopes must be read, trade or both/],
    ["create_api_key", { ...key, scopes: null }, /^The scopes must be read, trade or both/],
    ["create_api_key", { ...key, expires_at: "2001-01-01" }, /^The key must expire at a moment in/],
    ["create_api_key", { ...key, expires_at: "infinity" }, /^The key must expire at a moment in/],
    ["create_api_key", { ...key, allowed_addresses: [] }, /^The allowed addresses must be a list/],
    ["create_api_key", { ...key, allowed_addresses: [null] }, /^The allowed addresses must be/],
    ["create_api_key", { ...key, allowed_addresses: tooMany }, /^The allowed addresses must be/],
    [
      "create_api_key",
      { ...key, allowed_addresses: ["::ffff:192.0.2.0/120"] },
      /^Write an IPv4 address or network as such/,
    ],
    [
      "set_sign_up",
      { policy: "open", play_money_cents: "1000000000000001" },
      /^The play money must be at most 10,000,000,000,000.00 EUR$/,
    ],
    ["set_fee_schedule", { taker_rate_bps: 1, effective_from: "infinity" }, /begin at a moment$/],
    ["create_session", { user_id, valid_for: "101 years" }, /^A session must be valid for longer/],
    ["create_session", { user_id, valid_for: "0 s" }, /^A session must be valid for longer/],
    ["create_staff_key", { name: "x", role: "owner" }, /^The role must be analyst or operator$/],
    [
      "set_rate_policy",
      { ...policy, tier: "custom", burst_capacity: 0 },
      /each be from 1 to 1000000$/,
    ],
    [
      "set_rate_limit",
      { bucket: "v1", max_requests: 0, window_seconds: 1 },
      /^The maximum must be/,
    ],
    ["set_rate_limit", { bucket: "v1", max_requests: 1, window_seconds: 0 }, /1 to 86400 seconds/],
    ["set_trading_pause", { paused: null }, /^A value is required for trading paused$/],
  ];
  for (const [name, parameters, message] of refused) {
    const error = await t.throwsAsync<Error & { code: string; detail: string }>(
      operate(name, parameters),
      { code: "EX001", message },
    );
    t.is(error.detail, "INVALID_REQUEST");
  }
});

test("every constraint that an operator's values can break is said in words", async (t) => {
  const outOfReach = [
    ...["api_keys_hash_is_a_sha256", "api_keys_last_used_address_is_of_one_host"],
    "api_keys_last_used_address_is_that_of_a_use",
    ...["api_keys_prefix_has_six_characters_of_the_key", "event_listings_are_of_a_list"],
    ...["links_are_of_a_known_kind", "links_are_of_a_user_or_invitations"],
    ...["links_hash_is_a_sha256", "links_name_the_address_that_they_prove"],
    ...["links_of_staff_are_invitations", "mails_are_due_until_they_are_sent"],
    ...["mails_are_of_a_known_kind", "market_listings_are_of_a_list"],
    ...["markets_have_an_outcome_once_resolved", "markets_pay_what_the_outcome_says"],
    ...["passkeys_credential_id_has_16_to_1023_bytes", "passkeys_public_key_has_1_to_2000_bytes"],
    ...["passkeys_sign_count_is_an_unsigned_32_bit_number", "passkeys_transports_are_known"],
    ...["passwords_are_argon2id_in_phc_form", "rate_policies_are_those_that_differ"],
    ...["session_tokens_hash_is_a_sha256", "sessions_cookie_hash_is_a_sha256"],
    ...["sessions_expire_after_they_are_made", "settings_is_one_row"],
    ...["staff_keys_hash_is_a_sha256", "staff_passkeys_credential_id_has_16_to_1023_bytes"],
    "staff_passkeys_public_key_has_1_to_2000_bytes",
    "staff_passkeys_sign_count_is_an_unsigned_32_bit_number",
    ...["staff_passkeys_transports_are_known", "staff_password_has_its_time"],
    ...["staff_password_is_argon2id_in_phc_form", "staff_sessions_cookie_hash_is_a_sha256"],
    ...["staff_sessions_last_at_most_12_hours", "staff_who_are_removed_have_no_password"],
    ...["stream_caps_are_of_an_address_or_a_user", "users_avatar_url_is_short"],
  ];
  const names = await query(
    `select c.conname as name
     from pg_constraint c
     left join pg_class r on r.oid = c.conrelid
     where c.contype = 'c' and c.connamespace::regnamespace::text in
       ('catalog', 'identity', 'rate_limits') and r.relpersistence is distinct from 'u'
     order by 1`,
  );
  t.true(names.length > 15);
  for (const { name } of names.filter(({ name }) => !outOfReach.includes(name))) {
    const raised = query(`select core.raise_violation('${name}', '')`);
    const { message } = await t.throwsAsync(raised, { code: "EX001" });
    t.notRegex(message, /_|breaks the rule/);
  }
});

test("NOT_FOUND: the API keys of an unknown user", async (t) => {
  await t.throwsAsync(operate("list_api_keys", { user_id: nothing }), { code: "EX017" });
});

test.serial("INVALID_REQUEST: a market with a close time that is not in the future", async (t) => {
  await exchange.clock.freeze("2040-01-01T00:00:00Z");
  const values = { title: "When?", category: "tests" };
  for (const close_time of ["2040-01-01T00:00:00Z", "-infinity", "infinity"]) {
    await t.throwsAsync(operate("create_market", { ...values, close_time }), { code: "EX001" });
  }
  await operate("create_market", { ...values, close_time: "2040-01-01T00:00:00.001Z" });
  await exchange.clock.release();
});

test("INVALID_REQUEST: a market of an event of another category", async (t) => {
  await operate("create_category", { slug: "elsewhere", name: "Elsewhere" });
  const event_id = await operate("create_event", { title: "Election", category: "elsewhere" });
  await t.throwsAsync(operate("create_market", { title: "Who?", category: "tests", event_id }), {
    code: "EX001",
    message: /category/,
  });
  await operate("create_market", { title: "Who?", category: "elsewhere", event_id });
});

test("INVALID_REQUEST: an event that begins or ends at infinity; null is without bound", async (t) => {
  const values = { title: "Season", category: "tests" };
  for (const times of [
    { ends_at: "infinity" },
    { starts_at: "-infinity" },
    { starts_at: "2040-01-01", ends_at: "infinity" },
  ]) {
    await t.throwsAsync(operate("create_event", { ...values, ...times }), {
      code: "EX001",
      message: /must not be infinite/,
    });
  }
  await operate("create_event", { ...values, starts_at: "2040-01-01", ends_at: null });
});
