import { spawnSync } from "node:child_process";
import { join } from "node:path";
import test from "ava";
import { findPrograms } from "../../src/local/postgres_process.ts";
import { readText, rootDirectory } from "../helpers/repository.ts";
import { startTemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { startProcess } from "../helpers/processes/service_process.ts";

/**
 * deploy/docker by hand, since no images are built here: what makes the logins, and then the command
 * of each service with the variables that compose.yaml gives it.
 */

const compose = readText("deploy/docker/compose.yaml");

/** The text of each service, by its name. */
const services = new Map(
  compose
    .slice(compose.indexOf("services:"), compose.indexOf("\nvolumes:"))
    .split(/^ {2}(?=\w+:$)/m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf(":")), text]),
);

const passwords = [...new Set([...compose.matchAll(/\$\{(\w+):\?\}/g)].map(([, name]) => name!))];
const passwordOf = (name: string): string => `${name.toLowerCase()}1`;
const hasPsql = spawnSync("psql", ["--version"]).status === 0;

/** What a service gets, with the passwords, and the database where it is here. */
function environmentOf(service: string, address: string): Record<string, string> {
  const text = services.get(service) ?? "";
  const entries = [...text.matchAll(/^ {6}([A-Z_]+): (.+)$/gm)].map(([, name, value]) => [
    name!,
    value!
      .replaceAll(/\$\{(\w+):\?\}/g, (_, password: string) => passwordOf(password))
      .replaceAll(/\$\{\w+:-(\w*)\}/g, "$1")
      .replaceAll('"', "")
      .replace("@database/pgmarkets", `@/pgmarkets?host=${address}`),
  ]);
  return Object.fromEntries(
    entries.filter(([name, value]) => value !== "" && !name!.includes("PORT")),
  );
}

test("services name the programs of the service, and only passwords must be given", (t) => {
  t.deepEqual([...services.keys()].slice(0, 5), [
    "database",
    "migrate",
    "server",
    "staff",
    "worker",
  ]);
  t.true(passwords.every((name) => name.endsWith("_PASSWORD")));
  const shell = readText("deploy/docker/logins.sh");
  const used = [...new Set([...shell.matchAll(/\$(\w+_PASSWORD)/g)].map(([, name]) => name!))];
  t.deepEqual([...used, "POSTGRES_PASSWORD"].toSorted(), passwords.toSorted());
});

test("PostgreSQL takes its command, with the settings of the file, for all addresses", async (t) => {
  const { postgres } = await findPrograms();
  const [, command = ""] = /^ {4}command: (\[.*\])$/m.exec(services.get("database") ?? "") ?? [];
  const mounted = "/etc/pgmarkets.conf";
  t.true(command.includes(mounted));
  const file = join(rootDirectory, "deploy/postgresql/pgmarkets.conf");
  const [program, ...given] = JSON.parse(command.replace(mounted, file)) as string[];
  t.is(program, "postgres");
  // Prints a setting as it would be, and ends.
  const show = (name: string): string => {
    const { status, stdout, stderr } = spawnSync(postgres, ["-C", name, ...given], {
      encoding: "utf8",
      env: { PATH: process.env.PATH, PGDATA: rootDirectory },
    });
    return status === 0 ? stdout.trim() : stderr;
  };
  const settings = readText("deploy/postgresql/pgmarkets.conf");
  t.is(show("max_connections"), /^max_connections = (\d+)$/m.exec(settings)![1]!);
  t.is(show("listen_addresses"), "*");
});

(hasPsql ? test : test.skip)("the logins are made, and each command runs by its own", async (t) => {
  const cluster = await startTemporaryCluster("containers", { database: "postgres" });
  try {
    const url = new URL(cluster.server.connectionString.replace("@/", "@localhost/"));
    const [host, port] = [url.searchParams.get("host")!, url.searchParams.get("port") ?? "5432"];
    const secrets = Object.fromEntries(passwords.map((name) => [name, passwordOf(name)]));
    const shell = readText("deploy/docker/logins.sh").replace(
      "/lock_down.sql",
      "migrate/lock_down.sql",
    );
    const { status, stderr } = spawnSync("sh", ["-s"], {
      input: shell,
      encoding: "utf8",
      env: {
        ...{ PATH: process.env.PATH, PGHOST: host, PGPORT: port, POSTGRES_USER: "postgres" },
        ...secrets,
      },
    });
    t.is(status, 0, stderr);
    const address = `${host}&port=${port}`;
    const migrate = startProcess(t, "migrate.ts", environmentOf("migrate", address));
    t.is(await migrate.exited, 0, migrate.errors());
    for (const [service, script, says] of [
      ["server", "server.ts", "listening on "],
      ["staff", "server.ts", "listening on "],
      ["worker", "worker.ts", "working\n"],
    ] as const) {
      const running = startProcess(t, script, environmentOf(service, address));
      t.true(await running.says(says), running.errors());
      if (service !== "worker") {
        const ready = await fetch(`${await running.listening}/readyz`);
        t.deepEqual(await ready.json(), { status: "ok" }, "without a warning");
        const graphql = await fetch(`${await running.listening}/admin/graphql`, { method: "POST" });
        t.is(graphql.status, service === "staff" ? 401 : 404);
      }
      running.kill("SIGTERM");
      t.is(await running.exited, 0, running.errors());
    }
  } finally {
    await cluster.destroy();
  }
});
