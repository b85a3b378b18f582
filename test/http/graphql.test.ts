import { randomBytes } from "node:crypto";
import test from "ava";
import type { Pool } from "pg";
import { pino } from "pino";
import { getIntrospectionQuery } from "postgraphile/graphql";
import { keptFiles } from "../../src/api/graphiql.ts";
import { asServerPools } from "../../src/database/server_pools.ts";
import { createEndpoint } from "../../src/graphql/endpoint.ts";
import { formatSecret } from "../../src/secrets.ts";
import { describeError } from "../../src/bin/logger.ts";
import { serve } from "../../src/server/start_server.ts";
import type { RunningServer } from "../../src/server/start_server.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { callService } from "../helpers/http/test_service.ts";
import type { Answer } from "../helpers/http/test_service.ts";

const log: string[] = [];
let database: OwnDatabase;
let service: RunningServer;
let operators: Pool;
const keys: Record<string, string> = {};
let user: string;
let market: string;

async function operate(call: string, values: unknown[] = []): Promise<any> {
  return (await operators.query(`select admin.${call} as value`, values)).rows[0].value;
}

test.before("serve", async () => {
  database = await createDatabase();
  await database.pool.query(`do $$ begin
    execute format('alter database %I set timezone = %L', current_database(), 'Asia/Tokyo');
  end $$`);
  operators = database.connectAs("exchange_operator");
  const logger = pino(
    { level: "info", serializers: { error: describeError } },
    { write: (line: string) => log.push(line) },
  );
  const endpoint = (role: "analyst" | "operator") =>
    createEndpoint({
      ...{ role, logger, statementTimeoutMs: 4000 },
      pool: database.connectAs(`exchange_${role}`, { max: 4 }),
    });
  const config = { host: "127.0.0.1", port: 0, trustProxy: true };
  const [analysts, operating] = [endpoint("analyst"), endpoint("operator")];
  // Reading the schemas keeps a busy machine longer than a query may take.
  await analysts.prepare();
  await operating.prepare();
  service = await serve({
    pools: asServerPools(database.connectAs("exchange_api")),
    config,
    logger,
    graphql: { analysts, operators: operating },
  });
  await operate("create_category('tests', 'Tests')");
  market = await operate("create_market('Will it rain?', 'tests')");
  user = await operate("create_user('ann@test.example', 'Ann', 'ann')");
  keys.trader = await operate("create_api_key($1, 'mine')", [user]);
  keys.analyst = await operate("create_staff_key('Ada', 'analyst')");
  keys.operator = await operate("create_staff_key('Otto', 'operator')");
});

test.after.always("stop", async () => {
  await service.close();
  await database.drop();
});

function ask(path: string, key: string | undefined, query: string, variables?: object) {
  return callService(service.url, "POST", path, {
    body: { query, variables },
    ...(key !== undefined && { key }),
  });
}

const analyse = (query: string, variables?: object): Promise<Answer> =>
  ask("/graphql", keys.analyst, query, variables);
const run = (query: string, variables?: object): Promise<Answer> =>
  ask("/admin/graphql", keys.operator, query, variables);

const codes = ({ body }: Answer) => body.errors.map((error: any) => error.extensions?.code);

test.serial("401: each address takes only the keys of its own role", async (t) => {
  const doors = { "/graphql": "analyst", "/admin/graphql": "operator" };
  for (const [path, role] of Object.entries(doors)) {
    for (const [name, key] of Object.entries({ ...keys, nobody: undefined, garbage: "jo_1" })) {
      const { status, body } = await ask(path, key, "{ __typename }");
      t.is(status, name === role ? 200 : 401, `${path} as ${name}`);
      if (name !== role) t.deepEqual(body, { error: "Unauthorized" });
    }
  }
  for (const key of [keys.analyst, keys.operator]) {
    t.is((await callService(service.url, "GET", "/api/v1/me", { key: key! })).status, 401);
  }
});

test.serial("401, then 429: unknown keys are counted by address", async (t) => {
  await operate("set_rate_limit('unknown-key', 2, 60)");
  const madeUp = () => formatSecret(randomBytes(32), "jo_");
  const askAt = (address: string, key: string | undefined) =>
    callService(service.url, "POST", "/admin/graphql", {
      body: { query: "{ __typename }" },
      headers: { "x-forwarded-for": address, authorization: `Bearer ${key ?? ""}` },
    });
  t.is((await askAt("192.0.2.1", keys.operator)).status, 200);
  for (const status of [401, 401, 429]) {
    t.is((await askAt("192.0.2.1", madeUp())).status, status);
  }
  t.is((await askAt("192.0.2.1", keys.operator)).status, 200);
  t.is((await askAt("192.0.2.1", keys.analyst)).status, 401, "a key of another role");
  t.is((await askAt("192.0.2.2", keys.operator)).status, 200);
  await operate("set_rate_limit('unknown-key', 120, 60)");
});

test.serial("401: a revoked key", async (t) => {
  const key = await operate("create_staff_key('Eve', 'operator')");
  t.is((await ask("/admin/graphql", key, "{ __typename }")).status, 200);
  const { body } = await run(
    '{ allStaffKeys(condition: {name: "Eve"}) { nodes { keyId lastUsedAt } } }',
  );
  const [{ keyId, lastUsedAt }] = body.data.allStaffKeys.nodes;
  t.truthy(lastUsedAt);
  const revoke =
    "mutation($key: UUID!) { revokeStaffKey(input: {keyId: $key}) { clientMutationId } }";
  t.is((await run(revoke, { key: keyId })).body.errors, undefined);
  t.is((await ask("/admin/graphql", key, "{ __typename }")).status, 401);
});

test.serial(
  "analysts read the views, with what belongs together, and call the functions",
  async (t) => {
    const query = `query($market: UUID!) {
    allMarkets { nodes { title status categoryByCategoryKey { name } ordersByMarketKey { totalCount } } }
    bookAsOf(marketId: $market, at: "2030-01-01T00:00:00Z") {
      nodes { side yesPriceCents quantity orderCount }
    }
    now
  }`;
    const { status, body } = await analyse(query, { market });
    t.is(status, 200);
    t.deepEqual(body.data.allMarkets.nodes, [
      {
        title: "Will it rain?",
        status: "open",
        categoryByCategoryKey: { name: "Tests" },
        ordersByMarketKey: { totalCount: 0 },
      },
    ]);
    t.deepEqual(body.data.bookAsOf.nodes, []);
    t.regex(body.data.now, /^20\d\d-.*\+00:00$/, "in UTC, whatever the database's time zone");
  },
);

test.serial("NOT_FOUND, INVALID_REQUEST: an unknown market and a width of zero", async (t) => {
  const candles = (days: number) => `query($market: UUID!) {
    candles(
      marketId: $market, width: { days: ${days} },
      since: "2000-01-01T00:00:00Z", until: "2100-01-01T00:00:00Z"
    ) { nodes { openedAt } }
  }`;
  const unknown = await analyse(candles(1), { market: "01900000-0000-7000-8000-000000000000" });
  t.deepEqual(codes(unknown), ["NOT_FOUND"]);
  t.deepEqual(codes(await analyse(candles(0), { market })), ["INVALID_REQUEST"]);
  t.deepEqual((await analyse(candles(1), { market })).body.data.candles.nodes, []);
});

test.serial(
  "analysts change nothing and see neither e-mail nor anything of operators",
  async (t) => {
    const { body } = await analyse(
      "{ __schema { mutationType { name } types { name fields { name } } } }",
    );
    t.is(body.data.__schema.mutationType, null);
    const named = JSON.stringify(body.data.__schema.types);
    t.true(named.includes("bookAsOf"));
    t.false(/email|audit|apiKey|hash|reference|excluded|exclusion/i.test(named));
    const { status } = await analyse(
      "mutation { setTradingPause(input: {paused: true}) { clientMutationId } }",
    );
    t.is(status, 400);
  },
);

test.serial(
  "operators call the functions of admin, and the audit log has the name of the key",
  async (t) => {
    const deposit = `mutation($user: UUID!, $cents: BigInt!) {
    deposit(input: {userId: $user, amountCents: $cents, reference: "bank 1"}) { result }
  }`;
    const { body } = await run(deposit, { user, cents: "5000" });
    t.deepEqual(body.data, { deposit: { result: "5000" } });
    const read = await run(`{
    allUsers(condition: {handle: "ann"}) { nodes { email balanceCents } }
    allAuditEntries(condition: {action: "deposit"}) { nodes { staffKey operator arguments } }
    allMarkets { totalCount }
  }`);
    t.deepEqual(read.body.data.allUsers.nodes, [
      { email: "ann@test.example", balanceCents: "5000" },
    ]);
    const [entry] = read.body.data.allAuditEntries.nodes;
    t.is(entry.staffKey, "Otto");
    t.is(entry.arguments.reference, "bank 1");
    const { rows } = await database.pool.query("select session_user as login");
    t.is(entry.operator, rows[0].login);
  },
);

test.serial("the log has each command that was rejected, with its code and its key", async (t) => {
  const before = log.length;
  const { status, body } = await run(`mutation {
    a: setTradingPause(input: { paused: false }) { clientMutationId }
    b: deposit(input: { userId: "${user}", amountCents: "-1", reference: "r" }) { result }
    c: createCategory(input: { slug: "tests", name: "Again" }) { result }
  }`);
  t.deepEqual([status, body.errors.length], [200, 2]);
  await run("{ allMarkets(first: -1) { totalCount } }");
  await ask("/graphql", keys.analyst, "mutation { unknown }");
  const notRun = await run("mutation { unknown }");
  t.is(notRun.status, 400);
  const lines = log.slice(before).map((line) => JSON.parse(line));
  t.is(lines.length, 2, "and of queries and analysts none");
  const [line, ofText] = lines;
  const codes = ["INVALID_REQUEST", "ALREADY_EXISTS"];
  t.like(line, { route: "/admin/graphql", status: 200, codes, msg: "request" });
  t.like(ofText, { status: 400, codes: ["INVALID_REQUEST"] });
  const figures = await callService(service.url, "GET", "/metrics");
  for (const code of codes)
    t.regex(figures.body, new RegExp(`_rejections_total\\{code="${code}"\\} \\d`));
  const { rows } = await database.pool.query(
    "select public_id from identity.staff_keys where name = 'Otto'",
  );
  t.is(line.staffKeyId, rows[0].public_id);
});

test.serial("operators can't write the audit log themselves, nor change a view", async (t) => {
  const { body } = await run("{ __schema { mutationType { fields { name } } } }");
  const mutations: string[] = body.data.__schema.mutationType.fields.map(
    (field: any) => field.name,
  );
  const { rows } = await database.pool.query(
    `select distinct proname from pg_proc
     where pronamespace = 'admin'::regnamespace
       and provolatile = 'v' and has_function_privilege('exchange_operator', oid, 'execute')`,
  );
  const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());
  t.deepEqual(mutations.sort(), rows.map(({ proname }) => camel(proname)).sort());
});

test.serial(
  "the payload of a command has no query, which would be within its limits",
  async (t) => {
    const name = "mutation { listStaffKeys(input: {}) { result { name } } }";
    t.true((await run(name)).body.data.listStaffKeys.result.length > 0);
    const { status, body } = await run(
      "mutation { listStaffKeys(input: {}) { query { allMarkets { totalCount } } } }",
    );
    t.is(status, 400);
    t.regex(body.errors[0].message, /Cannot query field "query"/);
    const { body: schema } = await run(`{
    __type(name: "ListStaffKeysPayload") { fields { name } }
  }`);
    t.deepEqual(
      schema.data.__type.fields.map((field: { name: string }) => field.name),
      ["clientMutationId", "result"],
    );
  },
);

test.serial("NOT_FOUND, INVALID_REQUEST, ALREADY_EXISTS: errors have their code", async (t) => {
  const nobody = "01900000-0000-7000-8000-000000000000";
  const revoke = `mutation { revokeApiKey(input: {keyId: "${nobody}"}) { clientMutationId } }`;
  const revoked = await run(revoke);
  t.is(revoked.status, 200);
  t.deepEqual(codes(revoked), ["NOT_FOUND"]);
  t.is(revoked.body.errors[0].message, `There is no API key ${nobody}`);

  const make = (name: string, role: string) =>
    run(`mutation { createStaffKey(input: {name: "${name}", role: "${role}"}) { result } }`);
  t.deepEqual(codes(await make("Otto", "operator")), ["ALREADY_EXISTS"]);
  t.deepEqual(codes(await make(" ", "operator")), ["INVALID_REQUEST"]);
  t.deepEqual(codes(await make("Mallory", "owner")), ["INVALID_REQUEST"]);
  const made = await make("Zoe", "operator");
  t.regex(made.body.data.createStaffKey.result, /^jo_\w{49}$/);
});

test.serial("invalid values are explained, without internals", async (t) => {
  const bad = await analyse('{ dailyTraderResults(since: "soon") { nodes { day } } }');
  t.deepEqual(codes(bad), ["INVALID_REQUEST"]);
  t.false(/select|stack|node_modules|\.js/.test(JSON.stringify(bad.body)));

  await database.pool.query("alter view analytics.categories rename to hidden");
  const broken = await analyse("{ allCategories { nodes { name } } }");
  await database.pool.query("alter view analytics.hidden rename to categories");
  t.is(broken.body.errors[0].message, "Internal server error");
  t.false(JSON.stringify(broken.body).includes("relation"));
  t.true(log.some((line) => line.includes("a query failed") && line.includes("42P01")));
});

test.serial(
  "pages have 100 rows by default and 1,000 at most; an operation has 20,000",
  async (t) => {
    await operators.query(
      `select admin.create_market('Question ' || i, 'tests') from generate_series(1, 120) as i`,
    );
    const titles = async (query: string, variables?: object) =>
      (await analyse(query, variables)).body.data.allMarkets.nodes.length;
    t.is(await titles("{ allMarkets { nodes { title } } }"), 100);
    t.is(await titles("{ allMarkets(first: 1000) { nodes { title } } }"), 121);
    t.is(await titles("query($n: Int) { allMarkets(last: $n) { nodes { title } } }", { n: 7 }), 7);

    const refused = async (query: string, variables?: object) => {
      const { status, body } = await analyse(query, variables);
      t.is(status, 400, query);
      t.is(body.data, undefined);
      return body.errors[0].message;
    };
    const size = "first must be from 0 to 1000";
    t.is(await refused("{ allMarkets(first: 1001) { nodes { title } } }"), size);
    const asked = "query($n: Int) { allMarkets(first: $n) { nodes { title } } }";
    t.is(await refused(asked, { n: 1001 }), size);
    t.is(await refused(asked, { n: null }), size);
    t.is(await refused(asked), size);
    const many = "A query may bring 20000 rows";
    const nested = "allMarkets(first: 200) { nodes { ordersByMarketKey { nodes { side } } } }";
    t.is(await refused(`{ ${nested} }`), many);
    t.is(await refused(`{ ...all } fragment all on Query { ${nested} }`), many);
    const fields = Array.from(
      { length: 21 },
      (_, i) => `f${i}: allOrders(first: 1000) { totalCount }`,
    );
    t.is(await refused(`{ ${fields.join(" ")} }`), many);
    const values = Array.from({ length: 120 }, (_, i) => `f${i}: side`).join(" ");
    const wide = (first: number) =>
      `{ allMarkets(first: 18) { nodes { ordersByMarketKey(first: ${first}) { nodes { ${values} } } } } }`;
    t.is((await analyse(wide(900))).status, 200);
    t.is(await refused(wide(1000)), "A query may bring 2000000 values");
  },
);

test.serial("400: an answer has at most 10 MB, and what is read for it 30 MB", async (t) => {
  const describe = (characters: number) =>
    database.pool.query("update catalog.markets set description = repeat('x', $1)", [characters]);
  const { rows } = await database.pool.query("select count(*)::int from catalog.markets");
  await describe(Math.ceil(20_000_000 / rows[0].count));
  const all = "{ allMarkets(first: 1000) { nodes { description } } }";
  const long = await run(all);
  t.is(long.status, 400);
  t.regex(long.body.errors[0].message, /^The answer has more than 10000000 bytes/);
  // The connection is cut before all has come.
  await describe(Math.ceil(60_000_000 / rows[0].count));
  const longer = await run(all);
  t.is(longer.status, 400);
  t.deepEqual(
    [codes(longer), longer.body.errors[0].message],
    [["INVALID_REQUEST"], "A query may read 30000000 bytes"],
  );
  await describe(1);
  t.is((await run(all)).body.data.allMarkets.nodes.length, rows[0].count);
});

test.serial("400: a client error has a message", async (t) => {
  const aliases = (count: number, field: string) =>
    Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(" ");
  const cases: [what: string, query: string, variables: object | undefined, message: RegExp][] = [
    ["syntax", "{ allMarkets(", undefined, /Syntax Error/],
    ["an unknown field", "{ nothing }", undefined, /Cannot query field "nothing"/],
    ["no such operation", "mutation { nothing }", undefined, /mutation/],
    [
      "many aliases",
      `{ ${aliases(250, "allMarkets { nodes { title } }")} }`,
      undefined,
      /costs 2750/,
    ],
    [
      "a type again and again",
      `{ ${aliases(100, '__type(name: "Query") { fields { name args { name } } }')} }`,
      undefined,
      /may cost 500/,
    ],
    [
      "fragments in circles",
      Array.from({ length: 300 }, (_, i) => {
        const [one, two, three] = [1, 7, 13].map((step) => (i + step) % 300);
        return `fragment f${i} on Query { ...f${one} ...f${two} ...f${three} }`;
      }).join(" ") + " { now }",
      undefined,
      /uses itself/,
    ],
    ["many fields", `{ ${aliases(501, "now")} }`, undefined, /costs 501/],
    ["a long text", `{ now ${" ".repeat(16_384)} }`, undefined, /16384 characters/],
    ["long variables", "{ now }", { text: "x".repeat(16_384) }, /16384 characters/],
    ["a missing variable", "query($n: Int!) { allMarkets(first: $n) { totalCount } }", {}, /\$n/],
    [
      "a variable of the wrong type",
      "query($n: Int) { allMarkets(first: $n) { totalCount } }",
      { n: "x" },
      /\$n/,
    ],
    [
      "a literal of the wrong type",
      "{ allMarkets(first: true) { totalCount } }",
      undefined,
      /Int cannot represent/,
    ],
    [
      "a UUID that is none",
      '{ bookAsOf(marketId: "x", at: "2030-01-01T00:00:00Z") { nodes { side } } }',
      undefined,
      /./,
    ],
    ["a made-up cursor", '{ allMarkets(after: "x") { nodes { title } } }', undefined, /cursor/i],
    [
      "a cursor of another order",
      '{ allMarkets(after: "WzFd") { nodes { title } } }',
      undefined,
      /cursor/i,
    ],
    [
      "an interval that is none",
      '{ dailyTraderResults(since: "soon") { nodes { day } } }',
      undefined,
      /./,
    ],
    [
      "a number that is none",
      "{ allTrades(condition: {quantity: 99999999999}) { totalCount } }",
      undefined,
      /./,
    ],
    ["an offset below 0", "{ allMarkets(offset: -1) { nodes { title } } }", undefined, /./],
  ];
  for (const [what, query, variables, message] of cases) {
    const { status, body } = await analyse(query, variables);
    t.is(status, 400, `${what}: ${JSON.stringify(body)}`);
    t.regex(body.errors[0].message, message, what);
    t.not(body.errors[0].message, "Internal server error", what);
  }
  const deposit = `mutation($cents: BigInt!) {
    deposit(input: {userId: "${user}", amountCents: $cents, reference: "bank 2"}) { result }
  }`;
  const refused = await run(deposit, { cents: "-5" });
  t.is(refused.status, 400);
  t.deepEqual(codes(refused), ["INVALID_REQUEST"]);
  t.is((await run(deposit, { cents: "many" })).status, 400);
  t.is((await run(deposit, { cents: "5" })).status, 200);
});

test.serial("the queries of the page for operators are not too costly", async (t) => {
  const { body } = await run(getIntrospectionQuery({ inputValueDeprecation: true }));
  t.is(body.errors, undefined);
});

test.serial("queries that are too deep, or none at all, are refused", async (t) => {
  const deep = `{ allMarkets { nodes { ordersByMarketKey { nodes { marketByMarketKey {
    ordersByMarketKey { nodes { marketByMarketKey { ordersByMarketKey { totalCount } } } } } } } } } }`;
  const { status, body } = await analyse(deep);
  t.is(status, 400);
  t.regex(body.errors[0].message, /depth/i);
  t.is((await analyse("{ nothing }")).status, 400);
  t.is((await analyse("{")).status, 400);
  for (const depth of [1900, 5000]) {
    const list = `{ __typename(a: ${"[".repeat(depth)}${"]".repeat(depth)}) }`;
    t.is((await analyse(list)).status, 400);
    t.is((await analyse(`${"{a".repeat(depth)}${"}".repeat(depth)}`)).status, 400);
  }
  const empty = await callService(service.url, "POST", "/graphql", {
    key: keys.analyst!,
    body: {},
  });
  t.is(empty.status, 400);
  t.is(empty.body.code, "INVALID_REQUEST");
});

test.serial("a query that takes too long is cancelled", async (t) => {
  await database.pool.query(`
    create or replace function analytics.now() returns timestamptz
    language sql stable security definer set search_path = ''
    as 'select core.now() from (select pg_catalog.pg_sleep(60)) as s'`);
  const { body } = await analyse("{ now }");
  t.is(body.errors[0].message, "The query took too long");
});

test.serial("the page for operators loads nothing from other hosts", async (t) => {
  const page = await callService(service.url, "GET", "/admin/graphiql");
  t.is(page.status, 200);
  const policy = page.headers.get("content-security-policy") ?? "";
  const [, nonce] = /'nonce-([^']+)'/.exec(policy) ?? [];
  t.truthy(nonce);
  const scripts = page.body.match(/<script[^>]*>/g);
  t.true(scripts.length > 0);
  t.true(scripts.every((script: string) => script.includes(`nonce="${nonce}"`)));
  t.false(/unsafe-eval|https?:/.test(policy));
  t.false(/(?:src|href)="https?:/.test(page.body));
  t.true(page.body.includes('<link rel="icon" href="data:," />'), "browsers ask for no other");
  for (const file of ["ruru.js", "ruru.css", "graphqlWorker.js"]) {
    const { status, headers } = await callService(
      service.url,
      "GET",
      `/admin/graphiql/static/${file}`,
    );
    t.is(status, 200, file);
    t.regex(headers.get("content-type")!, /javascript|css/);
  }
  t.is((await callService(service.url, "GET", "/admin/graphiql/static/../../x")).status, 404);
  t.is((await callService(service.url, "HEAD", "/admin/graphiql")).status, 200);
  const again = await callService(service.url, "GET", "/admin/graphiql");
  t.false(again.body.includes(nonce!));
});

test.serial("the files of the page come in the encoding that the client takes", async (t) => {
  const ask = (encoding: string, file: string, method = "GET") =>
    callService(service.url, method, `/admin/graphiql/static/${file}`, {
      headers: { "accept-encoding": encoding },
    });
  const [plain, compressed] = [await ask("identity", "ruru.css"), await ask("br", "ruru.css")];
  t.is(plain.headers.get("content-encoding"), null);
  t.is(compressed.headers.get("content-encoding"), "br");
  t.is(plain.body, compressed.body);
  const head = await ask("identity", "ruru.css", "HEAD");
  t.is(head.status, 200);
  t.is(head.headers.get("content-length"), plain.headers.get("content-length"));
  for (const answer of [plain, compressed, head, await ask("br", "nothing.js")]) {
    t.is(answer.headers.get("vary"), "Accept-Encoding");
  }
});

test.serial(
  "a file of the page is decompressed once, also for clients at the same time",
  async (t) => {
    const find = keptFiles("/static/");
    const found = await Promise.all([find("ruru.js"), find("ruru.js")]);
    found.push(await find("ruru.js"));
    const [first] = found;
    t.true(first!.encodings.identity.length > first!.encodings.br!.length);
    for (const file of found) t.is(file!.encodings.identity, first!.encodings.identity);
    t.is(await find("nothing.js"), undefined);
  },
);
