import type { ChildProcess } from "node:child_process";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import pg from "pg";
import { startAva } from "../helpers/processes/ava.ts";
import { openTestCluster, shuffleTemplate } from "../helpers/database/test_cluster.ts";
import type { TestCluster } from "../helpers/database/test_cluster.ts";
import { replaceDatabase } from "../helpers/database/test_database.ts";
import { onEndingSignal } from "../helpers/processes/signals.ts";
import { mutations, shortNames } from "./all.ts";
import { mutate } from "./mutation.ts";
import type { Mutation } from "./mutation.ts";

/**
 * `npm run check:mutations [-- --short] [-- <name> ...]`: breaks a copy of the database on
 * purpose, in one way after the other, and runs the tests that must fail. Ends with 1 if they
 * pass: then a test is missing.
 */

/** Random tests find what they find in every run, and look long enough. */
process.env.TEST_SEED ??= "20261121";
process.env.TEST_EFFORT ??= "1";

/** Errors of SQL that cannot run: a test that fails by them has found no mistake. */
const NONSENSE =
  /syntax error|(?:column|relation|function|operator|type) .* does not exist|has no field/;

const { values, positionals: names } = parseArgs({
  options: { short: { type: "boolean", default: false } },
  allowPositionals: true,
});

// Ctrl-C ends the running tests, and this process then removes the cluster.
const state: { interrupted: boolean; child: ChildProcess | undefined } = {
  interrupted: false,
  child: undefined,
};
onEndingSignal((name) => {
  state.interrupted = true;
  state.child?.kill(name);
});

try {
  process.exitCode = await main(values.short, names);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** Tries out the mutations of these names, all of them without names. */
async function main(short: boolean, only: string[]): Promise<number> {
  const wanted = mutations.filter(
    ({ name }) =>
      (only.length === 0 || only.includes(name)) && (!short || shortNames.includes(name)),
  );
  const unknown = only.filter((name) => !mutations.some((mutation) => mutation.name === name));
  if (unknown.length > 0) {
    console.error(`There is no mutation ${unknown.join(", ")}, but`);
    for (const { name, breaks } of mutations) console.error(`  ${name}: ${breaks}`);
    return 1;
  }
  for (const mutation of mutations) mutate(mutation);

  const cluster = await openTestCluster();
  try {
    const files = [...new Set(wanted.flatMap(({ tests }) => tests))];
    const sound = await runTests(files, cluster);
    if (!sound.passed) {
      console.error(`${sound.output}\nThe tests fail already when nothing is broken.`);
      return 1;
    }
    const survivors: string[] = [];
    for (const [index, mutation] of wanted.entries()) {
      const startedAt = performance.now();
      const { killed, how } = await tryOut(mutation, cluster, index);
      if (state.interrupted) return 130;
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      if (!killed) survivors.push(mutation.name);
      console.log(`${mutation.name.padEnd(32)} ${seconds.padStart(5)} s  ${how}`);
    }
    console.log(`${wanted.length - survivors.length} of ${wanted.length} mutations killed`);
    return survivors.length === 0 ? 0 : 1;
  } finally {
    await cluster.close();
  }
}

/** Whether a test notices the mutation, and which one. */
async function tryOut(
  mutation: Mutation,
  cluster: TestCluster,
  index: number,
): Promise<{ killed: boolean; how: string }> {
  const template = `${cluster.prefix}_mutant_${index}`;
  await onDatabase(cluster, "postgres", [
    `create database ${template} template ${cluster.template}`,
  ]);
  await onDatabase(cluster, template, ["set role exchange_owner", mutate(mutation)]);
  const { passed, output } = await runTests(mutation.tests, { ...cluster, template });
  await onDatabase(cluster, "postgres", [
    `drop database ${template} with (force)`,
    `drop database ${template}_shuffled with (force)`,
  ]);
  if (passed) return { killed: false, how: `SURVIVES: ${mutation.breaks}` };
  const nonsense = NONSENSE.exec(output)?.[0];
  if (nonsense !== undefined) return { killed: false, how: `IS NO SOUND CODE: ${nonsense}` };
  const killer = /^not ok \d+ - (.*)$/m.exec(output)?.[1];
  if (killer === undefined) return { killed: false, how: `NO TEST HAS RUN: ${output}` };
  return { killed: true, how: `killed by ${killer}` };
}

async function runTests(
  files: string[],
  cluster: TestCluster,
): Promise<{ passed: boolean; output: string }> {
  const shuffled = await shuffleTemplate(cluster, cluster.template);
  const args = ["--tap", "--fail-fast", "--timeout=60s"];
  const paths = files.map((file) => `test/${file}.test.ts`);
  const child = startAva([...args, ...paths], cluster, shuffled, ["ignore", "pipe", "inherit"]);
  state.child = child;
  const exit = new Promise<number | null>((done, fail) => {
    child.on("error", fail);
    child.on("exit", done);
  });
  const output = await text(child.stdout!);
  return { passed: (await exit) === 0, output };
}

async function onDatabase(cluster: TestCluster, name: string, statements: string[]) {
  const client = new pg.Client({ connectionString: replaceDatabase(cluster.url, name) });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
