import type { ChildProcess } from "node:child_process";
import { startAva } from "./helpers/processes/ava.ts";
import { openTestCluster, shuffleTemplate } from "./helpers/database/test_cluster.ts";
import type { TestCluster } from "./helpers/database/test_cluster.ts";
import { chooseSeed } from "./helpers/random.ts";
import { onEndingSignal } from "./helpers/processes/signals.ts";
import { chooseTests } from "./slow_tests.ts";

/**
 * `npm test [-- arguments of ava]`: makes a cluster and the template database that the tests
 * clone, runs ava, and removes the cluster. Without the names of files it leaves the slow tests to
 * `npm run test:slow`. TEST_DATABASE_URL, a superuser's, names a running PostgreSQL 15 to 18 to use
 * instead; TEST_POSTGRES_BIN the programs of another version to start.
 */

const args = chooseTests(process.argv.slice(2));

chooseSeed();
console.log(`TEST_SEED=${process.env.TEST_SEED}`);
const opening = openTestCluster();

// Ctrl-C ends ava, and this process then removes the cluster.
const state: { interrupted: boolean; child: ChildProcess | undefined } = {
  interrupted: false,
  child: undefined,
};
onEndingSignal((name) => {
  state.interrupted = true;
  state.child?.kill(name);
});

try {
  const cluster = await opening;
  try {
    process.exitCode = state.interrupted ? 130 : await runAva(cluster);
  } finally {
    await cluster.close();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function runAva(cluster: TestCluster): Promise<number> {
  const shuffled = await shuffleTemplate(cluster, cluster.template);
  const child = startAva(args, cluster, shuffled, "inherit");
  state.child = child;
  return await new Promise((done, fail) => {
    child.on("error", fail);
    child.on("exit", (code, signal) => {
      done(code ?? (signal === "SIGINT" ? 130 : 1));
    });
  });
}
