import { spawnSync } from "node:child_process";
import { join } from "node:path";
import test from "ava";
import { readText, rootDirectory } from "../helpers/repository.ts";

/** The files of deploy/patroni agree; `npm run drill:patroni` runs them. */

const [patroni, etcd, haproxy] = ["patroni.yml", "etcd.env", "haproxy.cfg"].map((name) =>
  readText(`deploy/patroni/${name}`),
) as [string, string, string];
const page = readText("docs/operating/standbys.md").split("\n## Patroni\n")[1]!.split("\n## ")[0]!;

/** The value of a key, which the file has once. */
function valueOf(name: string): string {
  const found = [...patroni.matchAll(new RegExp(`^ *${name}: (.*)$`, "gm"))];
  if (found.length !== 1) throw new Error(`patroni.yml has ${name} ${found.length} times`);
  return found[0]![1]!;
}

const secondsOf = (name: string): number => Number(valueOf(name));

test("the three files name the same nodes", (t) => {
  const nodes = ["one 10.0.0.11", "two 10.0.0.12", "three 10.0.0.13"];
  const ofHaproxy = [...haproxy.matchAll(/^ +server (\w+) ([\d.]+):5432 check port 8008$/gm)];
  t.deepEqual(
    ofHaproxy.map(([, name, address]) => `${name} ${address}`),
    [...nodes, ...nodes],
  );
  const members = /^ETCD_INITIAL_CLUSTER=(.*)$/m.exec(etcd)![1]!.split(",");
  t.deepEqual(
    members,
    nodes.map((node) => `${node.replace(" ", "=http://")}:2380`),
  );
  t.is(valueOf("hosts"), nodes.map((node) => `${node.split(" ")[1]!}:2379`).join(","));
});

test("an acknowledged order is on two nodes, and a primary that crashed is not waited for", (t) => {
  t.is(valueOf("synchronous_mode"), "true");
  t.is(valueOf("synchronous_mode_strict"), "true");
  t.is(valueOf("primary_start_timeout"), "0");
});

test("the times are ones that Patroni accepts, and the page says what follows from them", (t) => {
  const [ttl, loopWait, retryTimeout] = ["ttl", "loop_wait", "retry_timeout"].map(secondsOf) as [
    number,
    number,
    number,
  ];
  t.true(ttl >= loopWait + 2 * retryTimeout);
  const most = ttl + 2 * loopWait + retryTimeout + 15;
  t.true(page.includes(`| ${ttl} s | ${loopWait} s | ${retryTimeout} s | ${most} s |`));
});

test("Patroni allows as many connections as the settings for all", (t) => {
  const settings = readText("deploy/postgresql/pgmarkets.conf");
  t.is(valueOf("max_connections"), /^max_connections = (\d+)$/m.exec(settings)![1]!);
});

const haproxyTest = spawnSync("haproxy", ["-v"]).status === 0 ? test : test.skip;

haproxyTest("HAProxy finds no fault with its file", (t) => {
  const file = join(rootDirectory, "deploy/patroni/haproxy.cfg");
  const { status, stdout, stderr } = spawnSync("haproxy", ["-c", "-f", file], { encoding: "utf8" });
  t.is(status, 0, stdout + stderr);
});
