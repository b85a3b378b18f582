import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import pg from "pg";
import { pino } from "pino";
import { makePool } from "../../src/database/pools.ts";
import type { DatabaseRole } from "../../src/database/pools.ts";
import { asServerPools } from "../../src/database/server_pools.ts";
import { createEndpoint } from "../../src/graphql/endpoint.ts";
import { serve } from "../../src/server/start_server.ts";
import { buildSchema } from "../helpers/database/schema.ts";
import { startTemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { callService } from "../helpers/http/test_service.ts";

/** A server that logs every statement with its parameters writes no secret into its log. */

const pgaudit = [15, 16, 17, 18].find((version) =>
  existsSync(`/usr/lib/postgresql/${version}/lib/pgaudit.so`),
);

/** All settings by which PostgreSQL logs statements. */
const loggingSettings = {
  log_statement: "all",
  log_min_duration_statement: "0",
  log_parameter_max_length: "-1",
  log_parameter_max_length_on_error: "-1",
  debug_print_parse: "off",
  fsync: "off",
};

const auditSettings = {
  shared_preload_libraries: "pgaudit,auto_explain",
  "pgaudit.log": "all",
  "pgaudit.log_parameter": "on",
  "pgaudit.log_catalog": "off",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_nested_statements": "on",
  "auto_explain.log_parameter_max_length": "-1",
  "auto_explain.log_verbose": "on",
};

/** How a secret may be written: as it is, its random part, and the bytes of both. */
function formsOf(secret: string): string[] {
  const body = secret.slice(0, -6);
  const number = secret
    .slice(3, -6)
    .split("")
    .reduce(
      (sum, digit) =>
        sum * 62n +
        BigInt("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".indexOf(digit)),
      0n,
    );
  return [
    ...[secret, body, secret.slice(3, -6), Buffer.from(secret).toString("hex")],
    ...[Buffer.from(body).toString("hex"), String(number), number.toString(16).padStart(64, "0")],
  ];
}

async function secretsInLog(options: {
  programsDirectory?: string;
  settings: Record<string, string>;
}): Promise<{ found: string[]; log: string; secrets: Record<string, string> }> {
  const cluster = await startTemporaryCluster("logs", { ...options, database: "exchange" });
  const { connectionString } = cluster.server;
  const pools: pg.Pool[] = [];
  const poolOf = (role: DatabaseRole) => {
    const pool = makePool({ connectionString, role, max: 4 });
    pools.push(pool);
    return pool;
  };
  try {
    const owner = new pg.Client({ connectionString });
    await owner.connect();
    if ("pgaudit.log" in options.settings) await owner.query("create extension pgaudit");
    await buildSchema(owner);
    await owner.end();
    const operators = poolOf("exchange_operator");
    const operate = async (call: string, values: unknown[] = []): Promise<string> =>
      (await operators.query(`select admin.${call} as value`, values)).rows[0].value;
    const user = await operate("create_user('ann@test.example', 'Ann', 'ann')");
    const secrets: Record<string, string> = {
      "API key": await operate("create_api_key($1, 'mine')", [user]),
      "analyst's key": await operate("create_staff_key('Ada', 'analyst')"),
      "operator's key": await operate("create_staff_key('Otto', 'operator')"),
      cookie: await operate("create_session($1)", [user]),
    };

    // And by the server, which is sent them.
    const logger = pino({ level: "silent" });
    const endpoint = createEndpoint({
      ...{ role: "operator", logger, pool: poolOf("exchange_operator") },
    });
    const config = { host: "127.0.0.1", port: 0, trustProxy: false };
    const service = await serve({
      pools: asServerPools(poolOf("exchange_api")),
      config,
      logger,
      graphql: { operators: endpoint },
    });
    try {
      const call = (method: string, path: string, given: object) =>
        callService(service.url, method, path, given);
      const headers = { cookie: `pgmarkets_session=${secrets.cookie!}` };
      const token = await call("GET", "/api/auth/token", { headers });
      secrets.token = token.body.token;
      for (const name of ["API key", "token"]) {
        const { status } = await call("GET", "/api/v1/me", { key: secrets[name] });
        if (status !== 200) throw new Error(`${name}: ${status}`);
      }
      const made = await call("POST", "/admin/graphql", {
        key: secrets["operator's key"],
        body: {
          query: `mutation Make($user: UUID!) {
            createApiKey(input: { userId: $user, name: "graph" }) { result }
            createStaffKey(input: { name: "Eve", role: "operator" }) { result }
            createSession(input: { userId: $user }) { result }
          }`,
          variables: { user },
        },
      });
      secrets["API key by GraphQL"] = made.body.data.createApiKey.result;
      secrets["staff key by GraphQL"] = made.body.data.createStaffKey.result;
      secrets["cookie by GraphQL"] = made.body.data.createSession.result;
    } finally {
      await service.close();
    }
    const log = await readFile(join(cluster.directory, "postgres.log"), "utf8");
    const found = Object.entries(secrets)
      .filter(([, secret]) => formsOf(secret).some((form) => log.includes(form)))
      .map(([name]) => name);
    return { found, log, secrets };
  } finally {
    await Promise.all(pools.filter((pool) => !pool.ended).map((pool) => pool.end()));
    await cluster.destroy();
  }
}

test("log_statement = all writes no key, cookie or token", async (t) => {
  t.timeout(120_000);
  const programsDirectory = process.env.TEST_POSTGRES_BIN;
  const { found, log, secrets } = await secretsInLog({
    ...(programsDirectory && { programsDirectory }),
    settings: loggingSettings,
  });
  t.deepEqual(found, []);
  t.is(Object.keys(secrets).length, 8);
  t.true(log.includes("admin.create_api_key"), "statements are logged");
});

test("pgaudit.log = all and auto_explain with parameters write no key, cookie or token", async (t) => {
  t.timeout(120_000);
  if (pgaudit === undefined) {
    t.log("not tried: no pgaudit on this machine (Debian: postgresql-15-pgaudit)");
    t.is(pgaudit, undefined);
    return;
  }
  const { found, log, secrets } = await secretsInLog({
    programsDirectory: `/usr/lib/postgresql/${pgaudit}/bin`,
    settings: { ...loggingSettings, ...auditSettings },
  });
  t.deepEqual(found, []);
  // What is looked for would be there: nested statements and their parameters are logged.
  t.regex(log, /AUDIT: SESSION,.*insert into identity\.api_keys/s);
  const hash = createHash("sha256").update(secrets["API key"]!).digest("hex");
  t.true(log.includes(hash), "parameters are logged");
});
