import { execFile, spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import {
  chown,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  rm,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Client } from "pg";
import { processesOf, signal } from "../../src/local/postgres_process.ts";
import { freePorts } from "../helpers/processes/free_ports.ts";
import { findDebianPostgres } from "../helpers/database/stock_cluster.ts";
import { readText } from "../helpers/repository.ts";
import { openWay } from "../helpers/processes/way.ts";
import type { Way } from "../helpers/processes/way.ts";
import { until } from "../helpers/until.ts";
import { mayMount, mountDisk, unmountDisk } from "./disk.ts";
import { withClient } from "./run.ts";
import { connectTo } from "./system.ts";

/**
 * Three nodes of Patroni, three of etcd and a HAProxy on this machine, by the files of
 * deploy/patroni: each port in the place of an address.
 */

/** One of the three. */
export interface PatroniNode {
  name: string;
  port: number;
  /** Its disk, which holds its data and nothing else; undefined if none could be mounted. */
  disk: string | undefined;
  /** To etcd. */
  way: Way;
  /** Starts Patroni, which starts PostgreSQL. */
  start: () => void;
  /** A signal to all processes of PostgreSQL. */
  signalPostgres: (name: NodeJS.Signals) => Promise<void>;
  /** A signal to Patroni alone. */
  signalPatroni: (name: NodeJS.Signals) => void;
  /** A session of the superuser with this node, whatever it is at the moment. */
  connect: () => Promise<Client>;
  /** Whether Patroni says that it is the primary. */
  isPrimary: () => Promise<boolean>;
}

/** The whole. */
export interface PatroniCluster {
  nodes: PatroniNode[];
  /** The address for this login, by HAProxy, by all hosts, or at one node. */
  addressOf: (login: string, path: "proxy" | "standbys" | "hosts" | PatroniNode) => string;
  /** The node that is the primary now. */
  findPrimary: () => Promise<PatroniNode | undefined>;
  /** Settles when there is a primary, and both other nodes follow it, one of them synchronously. */
  whole: (mostMs: number) => Promise<PatroniNode>;
  /** By hand, as docs/operating/standbys.md says. */
  switchOver: () => Promise<void>;
  /** The end of the logs of Patroni, for people. */
  logs: () => Promise<string>;
  destroy: () => Promise<void>;
}

/** The shortest times that let a busy machine of two cores keep its leader; in seconds. */
export const times = { ttl: 20, loop_wait: 2, retry_timeout: 5 } as const;

const names = ["one", "two", "three"] as const;
const DISK_SIZE = "640m";
const START_TIMEOUT_MS = 90_000;
const prefix = "pgmarkets-patroni-";

/** What each node listens on, by the port that deploy/patroni has for it. */
type Ports = Record<"5432" | "8008" | "2379" | "2380", number>;

/** Passwords are those of the files. */
const passwords: Record<string, string> = {
  postgres: "change-me-superuser",
  rewinder: "change-me-rewind",
  markets_deploy: "change-me-1",
  markets_web: "change-me-2",
  markets_jobs: "change-me-3",
};

/** Starts all. Needs root, to run the programs as the user of PostgreSQL. */
export async function startPatroniCluster(): Promise<PatroniCluster> {
  await sweep();
  const directory = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
  const ways: Way[] = [];
  const destroy = async (): Promise<void> => {
    await removeAll(directory);
    for (const way of ways) way.close();
  };
  try {
    const owner = ownerOfPostgres();
    await chown(directory, owner.uid, owner.gid);
    const free = await freePorts(names.length * 4 + 2);
    const ports = names.map((): Ports => ({
      5432: free(),
      8008: free(),
      2379: free(),
      2380: free(),
    }));
    for (const name of names) startEtcd(directory, name, ports);
    const members = ports.map((own) => ({ port: own["2379"], host: "127.0.0.1" }));
    const nodes: PatroniNode[] = [];
    for (const [index] of names.entries()) {
      const way = await openWay(members);
      ways.push(way);
      nodes.push(await makeNode({ directory, index, ports, way, owner }));
    }
    const proxyPorts = [free(), free()] as const;
    await startHaproxy(directory, ports, proxyPorts);
    for (const node of nodes) node.start();
    const cluster = { ...operations(directory, nodes, proxyPorts), destroy };
    await cluster.whole(START_TIMEOUT_MS).catch(async (error: unknown) => {
      throw new Error(`The cluster does not start:\n${await cluster.logs()}`, { cause: error });
    });
    return cluster;
  } catch (error) {
    await destroy();
    throw error;
  }
}

function operations(
  directory: string,
  nodes: PatroniNode[],
  [primaryPort, standbysPort]: readonly [number, number],
): Omit<PatroniCluster, "destroy"> {
  const findPrimary = async (): Promise<PatroniNode | undefined> => {
    const found = await Promise.all(nodes.map(({ isPrimary }) => isPrimary()));
    return nodes[found.indexOf(true)];
  };
  return {
    nodes,
    addressOf: (login, path) => {
      const places = {
        proxy: `127.0.0.1:${primaryPort}`,
        standbys: `127.0.0.1:${standbysPort}`,
        hosts: nodes.map(({ port }) => `127.0.0.1:${port}`).join(","),
      };
      const place = typeof path === "string" ? places[path] : `127.0.0.1:${path.port}`;
      const tail = path === "hosts" ? "?target_session_attrs=read-write" : "";
      return `postgres://${login}:${passwords[login] ?? ""}@${place}/pgmarkets${tail}`;
    },
    findPrimary,
    whole: async (mostMs) => {
      let primary: PatroniNode | undefined;
      await until(
        "a primary has two standbys",
        async () => {
          primary = await findPrimary();
          return primary !== undefined && (await isFollowed(primary));
        },
        mostMs,
      );
      return primary!;
    },
    switchOver: async () => {
      const config = join(directory, "one.yml");
      await promisify(execFile)("patronictl", ["-c", config, "switchover", "--force"]);
    },
    logs: async () => {
      const ends = names.map(async (name) => {
        const text = await readFile(join(directory, `${name}.log`), "utf8");
        const lines = text.split("\n").filter((line) => /^\d{4}-.*(?<!no action.*)$/.test(line));
        return [`${name}:`, ...lines.slice(-40).map((line) => line.slice(0, 200))].join("\n");
      });
      return (await Promise.all(ends)).join("\n");
    },
  };
}

/** Whether both others have all, and one of them confirms each commit. */
async function isFollowed(primary: PatroniNode): Promise<boolean> {
  try {
    return await withClient(primary.connect, async (client) => {
      const { rows } = await client.query(
        `select count(*) = 2 and bool_or(sync_state = 'sync') as "isSo"
         from pg_stat_replication
         where state = 'streaming'
           and application_name in ('one', 'two', 'three')`,
      );
      return rows[0]?.isSo === true;
    });
  } catch {
    return false;
  }
}

interface NodeOptions {
  directory: string;
  index: number;
  ports: Ports[];
  way: Way;
  owner: Owner;
}

interface Owner {
  uid: number;
  gid: number;
}

async function makeNode({
  directory,
  index,
  ports,
  way,
  owner,
}: NodeOptions): Promise<PatroniNode> {
  const name = names[index]!;
  const own = ports[index]!;
  const home = join(directory, name);
  await mkdir(home);
  const disk = mayMount() ? home : undefined;
  if (disk !== undefined) mountDisk(disk, DISK_SIZE);
  await chown(home, owner.uid, owner.gid);
  const config = join(directory, `${name}.yml`);
  await writeFile(config, configurationOf(name, { home, ports, own, way }));
  await writeFile(join(directory, `${name}.conf`), smallSettings());
  const data = join(home, "data");
  let patroni: ChildProcess | undefined;
  return {
    name,
    port: own["5432"],
    disk,
    way,
    start: () => {
      patroni = spawnAsPostgres(directory, name, ["patroni", config]);
    },
    signalPostgres: async (which) => {
      for (const processId of await processesOf(data)) signal(processId, which);
    },
    signalPatroni: (which) => patroni?.kill(which),
    connect: () =>
      connectTo(`postgres://postgres:${passwords.postgres!}@127.0.0.1:${own["5432"]}/postgres`),
    isPrimary: async () => {
      const url = `http://127.0.0.1:${own["8008"]}/primary`;
      const limits = { method: "OPTIONS", signal: AbortSignal.timeout(1000) };
      return await fetch(url, limits).then(
        ({ status }) => status === 200,
        () => false,
      );
    },
  };
}

interface Places {
  home: string;
  ports: Ports[];
  own: Ports;
  way: Way;
}

/** The file of deploy/, changed for another node as it says, and then for this machine. */
function configurationOf(name: string, { home, ports, own, way }: Places): string {
  const number = names.indexOf(name as (typeof names)[number]) + 1;
  const changes: [RegExp, string][] = [
    [/^name: one$/m, `name: ${name}`],
    [/connect_address: 10\.0\.0\.11/g, `connect_address: 10.0.0.1${number}`],
    [
      /^( *)hosts: .*/m,
      `$1hosts: ${way.ports.map((port) => `127.0.0.1:${port}`).join(",")}\n$1use_proxies: true`,
    ],
    [/0\.0\.0\.0:(\d+)/g, `10.0.0.1${number}:$1`],
    [/^( *data_dir:) .*/m, `$1 ${join(home, "data")}`],
    [/^( *bin_dir:) .*/m, `$1 ${findDebianPostgres() ?? ""}`],
    [/^( *custom_conf:) .*/m, `$1 ${join(dirname(home), `${name}.conf`)}`],
    [/^( *pgpass:) .*/m, `$1 ${join(home, "pgpass")}`],
    [/^( *unix_socket_directories:) .*/m, `$1 ${home}`],
    [/10\.0\.0\.0\/24/g, "127.0.0.1/32"],
    // A machine that has a watchdog must survive a frozen node.
    [/mode: automatic/, 'mode: "off"'],
    ...Object.entries(times).map(([time, seconds]): [RegExp, string] => [
      new RegExp(`^( *${time}:) .*`, "m"),
      `$1 ${seconds}`,
    ]),
  ];
  const documented = readText("deploy/patroni/patroni.yml");
  return localise(change(documented, changes), ports, own);
}

/** Those of deploy/postgresql, for a small disk. */
function smallSettings(): string {
  return change(readText("deploy/postgresql/pgmarkets.conf"), [
    [/^shared_buffers = .*/m, "shared_buffers = 64MB"],
    [/^max_wal_size = .*/m, "max_wal_size = 128MB"],
    [/^min_wal_size = .*/m, "min_wal_size = 64MB"],
    [/^max_slot_wal_keep_size = .*/m, "max_slot_wal_keep_size = 192MB\nwal_keep_size = 32MB"],
  ]);
}

/** Makes each change, and throws if there is nothing to change. */
function change(text: string, changes: [RegExp, string][]): string {
  return changes.reduce((before, [what, by]) => {
    if (before.search(what) < 0) throw new Error(`deploy/ has no ${String(what)} any more`);
    return before.replace(what, by);
  }, text);
}

/** Ports of this machine in the place of the addresses of deploy/. */
function localise(text: string, ports: Ports[], own?: Ports): string {
  const portOf = (number: string, port: string): string =>
    `127.0.0.1:${(ports[Number(number) - 1] ?? own)?.[port as keyof Ports] ?? port}`;
  return text.replace(/10\.0\.0\.1(\d):(\d+)/g, (_, number: string, port: string) =>
    portOf(number, port),
  );
}

function startEtcd(directory: string, name: (typeof names)[number], ports: Ports[]): void {
  const number = names.indexOf(name) + 1;
  const text = change(readText("deploy/patroni/etcd.env"), [
    [/^ETCD_NAME=.*/m, `ETCD_NAME=${name}`],
    [/^(ETCD_(?!INITIAL_CLUSTER)\w+=http:\/\/)10\.0\.0\.11/gm, `$110.0.0.1${number}`],
    [/^ETCD_DATA_DIR=.*/m, `ETCD_DATA_DIR=${join(directory, `etcd-${name}`)}`],
  ]);
  const settings = [...localise(text, ports).matchAll(/^(ETCD_\w+)=(.*)$/gm)].map(
    ([, variable, value]) => `${variable!}=${value!}`,
  );
  spawnAsPostgres(directory, `etcd-${name}`, ["env", ...settings, "etcd"]);
}

async function startHaproxy(
  directory: string,
  ports: Ports[],
  [primaryPort, standbysPort]: readonly [number, number],
): Promise<void> {
  const text = readText("deploy/patroni/haproxy.cfg").replace(
    /10\.0\.0\.1(\d):5432 check port 8008/g,
    (_, number: string) => {
      const own = ports[Number(number) - 1]!;
      return `127.0.0.1:${own["5432"]} check port ${own["8008"]}`;
    },
  );
  const path = join(directory, "haproxy.cfg");
  const changes: [RegExp, string][] = [
    [/bind 127\.0\.0\.1:5000$/m, `bind 127.0.0.1:${primaryPort}`],
    [/bind 127\.0\.0\.1:5001$/m, `bind 127.0.0.1:${standbysPort}`],
  ];
  await writeFile(path, change(text, changes));
  spawnAsPostgres(directory, "haproxy", ["haproxy", "-db", "-f", path]);
}

/** Starts a program as the user of PostgreSQL, which ends with this process. */
function spawnAsPostgres(directory: string, name: string, command: string[]): ChildProcess {
  const log = openSync(join(directory, `${name}.log`), "a");
  const { uid, gid } = ownerOfPostgres();
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
  try {
    const child = spawn("setpriv", [...identity, "--pdeathsig=KILL", ...command], {
      cwd: directory,
      env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8", HOME: directory },
      stdio: ["ignore", log, log],
      detached: true,
    });
    child.on("error", () => undefined);
    return child;
  } finally {
    closeSync(log);
  }
}

function ownerOfPostgres(): Owner {
  const idOf = (which: string): number =>
    Number(spawnSync("id", [which, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: idOf("-u"), gid: idOf("-g") };
}

/** Ends all processes that use a folder, also those of an earlier run, and removes it with its disks. */
async function removeAll(directory: string): Promise<void> {
  await until("all processes have ended", async () => {
    const left = await processesBelow(directory);
    for (const processId of left) signal(processId, "SIGKILL");
    return left.length === 0;
  });
  for (const name of names) unmountDisk(join(directory, name));
  await rm(directory, { recursive: true, force: true });
}

async function processesBelow(directory: string): Promise<number[]> {
  const processIds = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    processIds.map(async (processId) => {
      const [cwd, command] = await Promise.all([
        readlink(`/proc/${processId}/cwd`).catch(() => ""),
        readFile(`/proc/${processId}/cmdline`, "utf8").catch(() => ""),
      ]);
      const isOurs = cwd.startsWith(directory) || command.includes(directory);
      return isOurs && processId !== process.pid ? [processId] : [];
    }),
  );
  return found.flat();
}

/** Removes what drills that were killed have left. */
async function sweep(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const processId = name.startsWith(prefix) ? Number(name.slice(prefix.length).split("-")[0]) : 0;
    if (processId === 0) continue;
    const alive = await readFile(`/proc/${processId}/cmdline`, "utf8").catch(() => "");
    if (!alive.includes("patroni")) await removeAll(join(tmpdir(), name));
  }
}
