import { spawn } from "node:child_process";
import type { ChildProcess, StdioOptions } from "node:child_process";
import { join } from "node:path";
import type { TestCluster } from "../database/test_cluster.ts";
import { compileCache, rootDirectory } from "../repository.ts";

const ava = join(import.meta.dirname, "run_ava.ts");

/** Starts ava on databases of the cluster that are cloned from these templates. */
export function startAva(
  args: string[],
  cluster: Pick<TestCluster, "url" | "prefix" | "template">,
  shuffledTemplate: string,
  stdio: StdioOptions,
): ChildProcess {
  return spawn(process.execPath, [ava, ...args], {
    cwd: rootDirectory,
    stdio,
    env: {
      ...process.env,
      DATABASE_URL: undefined,
      // Each file is a thread that compiles what it imports.
      ...compileCache,
      TEST_CLUSTER_URL: cluster.url,
      TEST_DATABASE_PREFIX: cluster.prefix,
      TEST_TEMPLATE: cluster.template,
      TEST_SHUFFLED_TEMPLATE: shuffledTemplate,
    },
  });
}
