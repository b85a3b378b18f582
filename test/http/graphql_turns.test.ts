import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import type { Pool } from "pg";
import { pino } from "pino";
import { asServerPools } from "../../src/database/server_pools.ts";
import { serve } from "../../src/server/start_server.ts";
import type { RunningServer } from "../../src/server/start_server.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { testDatabase } from "../helpers/database/test_database.ts";
import { callService } from "../helpers/http/test_service.ts";
import type { Answer } from "../helpers/http/test_service.ts";
import { until } from "../helpers/until.ts";

/** While an answer is made, a thread does nothing else: callers of GraphQL take turns. */

const database = testDatabase(test);
let service: RunningServer;
let operators: Pool;
const keys: string[] = [];
/** Its answer has 9 MB. */
const long = "{ long answer of nine MB }".padEnd(30);
/** The queries under way, by their text, each with what ends it. */
const running = new Map<string, () => void>();

test.serial.before("serve", async () => {
  operators = database.connectAs("exchange_operator");
  for (const name of ["Ada", "Ben", "Cleo", "Dan"]) {
    const { rows } = await operators.query("select admin.create_staff_key($1, 'analyst') as key", [
      name,
    ]);
    keys.push(rows[0].key);
  }
  service = await serve({
    pools: asServerPools(database.connectAs("exchange_api")),
    config: { host: "127.0.0.1", port: 0, trustProxy: false },
    logger: pino({ level: "silent" }),
    graphql: {
      analysts: {
        role: "analyst",
        answer: async ({ request: { query, variables } }) => {
          if (query === long) {
            return { status: 200, json: JSON.stringify(query.repeat(300_000)), codes: [] };
          }
          if (variables === undefined) {
            await new Promise<void>((end) => running.set(query, end));
            running.delete(query);
          }
          return { status: 200, json: JSON.stringify({ data: { said: query } }), codes: [] };
        },
        prepare: () => Promise.resolve(),
        close: () => Promise.resolve(),
      },
    },
  });
});
test.after.always("stop", async () => {
  await service.close();
});

const ask = (who: number, query: string, variables?: object): Promise<Answer> =>
  callService(service.url, "POST", "/graphql", { key: keys[who]!, body: { query, variables } });

test.serial(
  "a caller has one query under way, all together two; mutations do not wait for them",
  async (t) => {
    const answers = [ask(0, "Ada 1")];
    await until("the first runs", async () => running.has("Ada 1"));
    answers.push(ask(0, "Ada 2"));
    await delay(50);
    t.deepEqual([...running.keys()], ["Ada 1"]);

    answers.push(ask(1, "Ben 1"));
    await until("another caller's runs", async () => running.has("Ben 1"));
    answers.push(ask(2, "Cleo 1"));
    await delay(50);
    t.deepEqual([...running.keys()], ["Ada 1", "Ben 1"]);

    // Mutations wait for other mutations only.
    const mutation = "mutation { pause { done } }";
    answers.push(ask(3, mutation));
    await until("a mutation runs", async () => running.has(mutation));
    running.get(mutation)!();

    running.get("Ben 1")!();
    await until("the third caller's runs", async () => running.has("Cleo 1"));
    t.deepEqual([...running.keys()], ["Ada 1", "Cleo 1"]);
    running.get("Ada 1")!();
    await until("the second of the first", async () => running.has("Ada 2"));
    for (const end of running.values()) end();
    t.deepEqual(
      (await Promise.all(answers)).map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
  },
);

test.serial("a caller's mutations wait for none of the caller's queries", async (t) => {
  const [first, second, third] = [1, 2, 3].map((i) => `mutation { pause { done(at: ${i}) } }`);
  const answers = [ask(0, "Ada 1"), ask(1, "Ben 1")];
  await until("both turns of queries are taken", async () => running.size === 2);
  answers.push(ask(0, "Ada 2"), ask(2, "Cleo 1"));
  await delay(50);
  t.deepEqual([...running.keys()].sort(), ["Ada 1", "Ben 1"]);

  answers.push(ask(0, first!));
  await until("the mutation runs", async () => running.has(first!));
  answers.push(ask(2, third!));
  await until("that of one whose only query waits runs", async () => running.has(third!));
  answers.push(ask(0, second!));
  answers.push(ask(3, "mutation { of { Dan } }"));
  await delay(50);
  t.false(running.has(second!), "one of a caller at a time");
  t.is(running.size, 4, "two in all");
  running.get(third!)!();
  await until("the fourth caller's runs", async () => running.has("mutation { of { Dan } }"));
  running.get(first!)!();
  await until("the caller's second runs", async () => running.has(second!));
  t.true(running.has("Ada 1"));

  let isOver = false;
  const all = Promise.all(answers).finally(() => (isOver = true));
  await until("all end", async () => {
    for (const end of running.values()) end();
    return isOver;
  });
  t.deepEqual(new Set((await all).map(({ status }) => status)), new Set([200]));
});

test.serial(
  "429: a caller has so many queries in a minute, whatever the others have",
  async (t) => {
    const clock = testClock(database.pool);
    await clock.freeze("2040-01-01T00:00:00Z");
    await operators.query("select admin.set_rate_limit('graphql', 3, 60)");
    const statuses = async (who: number, count: number): Promise<number[]> => {
      const answers = [];
      for (let i = 0; i < count; i += 1) answers.push((await ask(who, "{ no }", {})).status);
      return answers;
    };
    t.deepEqual(await statuses(0, 2), [200, 200]);
    await clock.advance(20_000);
    t.deepEqual(await statuses(0, 2), [200, 429]);
    const { status, headers, body } = await ask(0, "{ no }", {});
    t.deepEqual([status, headers.get("retry-after")], [429, "40"]);
    t.is(body.error, "Too many requests");
    t.deepEqual(await statuses(1, 4), [200, 200, 200, 429]);
    await clock.advance(40_000);
    t.deepEqual(await statuses(0, 3), [200, 200, 429]);
    await operators.query("select admin.set_rate_limit('graphql', 600, 60)");
  },
);

/** Sends the first part of a request, and reads nothing. */
async function begin(who: number, body: string, sent = body): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.pause();
  await once(socket, "connect");
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${keys[who]!}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${sent}`,
  );
  return socket;
}

test.serial(
  "400: what is too deep or too long is refused before it waits for a turn",
  async (t) => {
    const first = ask(0, "first");
    await until("a query of the caller runs", async () => running.has("first"));
    const a = "[".repeat(3000) + "]".repeat(3000);
    for (const query of ["{ waits }", "mutation { waits }"]) {
      const deep = await fetch(`${service.url}/graphql`, {
        method: "POST",
        headers: { authorization: `Bearer ${keys[0]!}` },
        body: `{ "query": "${query}", "variables": { "a": ${a} } }`,
      });
      t.deepEqual([deep.status, deep.headers.get("x-error-code")], [400, "INVALID_REQUEST"]);
      t.regex(await deep.text(), /lists and objects 100 deep/);
    }
    const texts = [
      await ask(0, "x".repeat(17_000)),
      await ask(0, "{ waits }", { a: "x".repeat(17_000) }),
    ];
    for (const { status, body } of texts) {
      t.is(status, 400);
      t.regex(body.errors[0].message, /may have 16384 characters/);
    }
    running.get("first")!();
    t.is((await first).status, 200);
  },
);

test.serial("503: of a caller's queries 100 wait; more are sent back at once", async (t) => {
  const first = ask(0, "first");
  await until("a query of the caller runs", async () => running.has("first"));
  const others = Array.from({ length: 110 }, () => ask(0, "{ waits }", {}));
  const refused = await Promise.race(others);
  t.like(refused, { status: 503, body: { code: "CONFLICT_RETRY" } });
  t.is((await ask(1, "{ waits }", {})).status, 200, "another caller's does not wait");
  running.get("first")!();
  const statuses = (await Promise.all(others)).map(({ status }) => status);
  t.deepEqual([statuses.filter((one) => one === 200).length, (await first).status], [100, 200]);
});

test.serial(
  "eight bodies of a caller are read at a time, and another caller's meanwhile",
  async (t) => {
    const body = JSON.stringify({ query: "{ slow }", variables: {} });
    const slow = await Promise.all(
      Array.from({ length: 8 }, () => begin(0, body, body.slice(0, 10))),
    );
    let held: ReturnType<typeof ask> | undefined;
    await until("another one waits", async () => {
      const asked = ask(0, "{ ninth }", {});
      const answer = await Promise.race([asked, delay(300)]);
      held = answer === undefined ? asked : undefined;
      return held !== undefined;
    });
    t.is((await ask(1, "{ other }", {})).status, 200);
    slow[0]!.write(body.slice(10));
    t.is((await held!).status, 200);
    for (const socket of slow) socket.destroy();
    t.is((await ask(0, "{ tenth }", {})).status, 200);
  },
);

test.serial("503: of a caller's answers 40,000,000 characters may be left untaken", async (t) => {
  const sockets: Socket[] = [];
  for (let i = 0; i < 5; i += 1) {
    const socket = await begin(0, JSON.stringify({ query: long }));
    sockets.push(socket);
    await once(socket, "readable");
  }
  t.like(await ask(0, "{ sixth }", {}), { status: 503, body: { code: "CONFLICT_RETRY" } });
  t.is((await ask(0, "mutation { of { mine } }", {})).status, 200);
  t.is((await ask(1, "{ other }", {})).status, 200);
  sockets.pop()!.destroy();
  await until("one of them counts no longer", async () => {
    return (await ask(0, "{ sixth }", {})).status === 200;
  });
  for (const socket of sockets) socket.destroy();
});

test.serial("a query whose client has left does not run, a mutation does", async (t) => {
  const first = [ask(0, "first"), ask(0, "mutation { first }")];
  await until("both run", async () => running.has("mutation { first }") && running.has("first"));
  const left = [
    await begin(0, JSON.stringify({ query: "left" })),
    await begin(0, JSON.stringify({ query: "mutation { left }" })),
  ];
  await delay(200);
  for (const socket of left) socket.destroy();
  const next = ask(0, "next");
  await delay(200);
  running.get("first")!();
  running.get("mutation { first }")!();
  await until("the next and the command run", async () => {
    return running.has("next") && running.has("mutation { left }");
  });
  t.false(running.has("left"));
  running.get("mutation { left }")!();
  running.get("next")!();
  t.deepEqual(
    (await Promise.all([...first, next])).map(({ status }) => status),
    [200, 200, 200],
  );
});
