import { spawn, spawnSync } from "node:child_process";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import test from "ava";
import type { ExecutionContext } from "ava";
import { buildClientIfStale } from "../../src/site/client_package.ts";
import { readDocument } from "../docs/document.ts";
import { kill } from "../helpers/processes/checkout.ts";
import { rootDirectory } from "../helpers/repository.ts";

/** An example that runs. */
export interface RunningExample {
  /** What of the checkout it needs, in a folder of its own. */
  directory: string;
  /** What it has printed so far, errors included. */
  output: () => string;
  /** Ends it as Ctrl-C does. Settles when its last process has ended; throws after a minute. */
  stop: () => Promise<void>;
  /** Kills it, so that it can't clean up. */
  kill: () => void;
  /** Its exit code, when its last process has ended. */
  ended: Promise<number | null>;
}

/** Declares a test that needs these programs. Without one of them it is skipped, but not in CI. */
export function testWithPrograms(
  programs: string[],
  title: string,
  run: (t: ExecutionContext) => Promise<void>,
): void {
  const missing = programs.filter((name) => spawnSync(name, ["--version"]).status !== 0);
  test(title, async (t) => {
    if (missing.length === 0) {
      await run(t);
      return;
    }
    const message = `${missing.join(", ")} not installed`;
    t.log(`skipped: ${message}`);
    t.is(process.env.CI, undefined, message);
  });
}

/** Starts the commands that examples/README.md has under this heading, by bash. */
export async function startExample(
  t: ExecutionContext,
  heading: string,
  environment: Record<string, string>,
): Promise<RunningExample> {
  const commands = readDocument("examples/README.md")
    .blocks.filter((block) => block.language === "sh" && block.heading === heading)
    .map(({ text }) => text);
  if (commands.length === 0) throw new Error(`examples/README.md has no commands in ${heading}`);

  const directory = await mkdtemp(join(tmpdir(), `pgmarkets-example-${process.pid}-`));
  await cp(join(rootDirectory, "examples"), join(directory, "examples"), { recursive: true });
  await symlink(join(rootDirectory, "node_modules"), join(directory, "node_modules"));
  // The programs import the package by its own name.
  await buildClientIfStale();
  for (const name of ["package.json", "dist"]) {
    await symlink(join(rootDirectory, name), join(directory, name));
  }

  // A process group of its own, so that a signal reaches all of it, as Ctrl-C at a terminal does.
  const child = spawn("bash", ["-euc", commands.join("\n")], {
    cwd: directory,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => (output += String(chunk)));
  }
  const ended = new Promise<number | null>((resolve) => {
    child.on("close", resolve);
  });
  const signalAll = (name: NodeJS.Signals) => {
    if (child.pid !== undefined) kill(-child.pid, name);
  };
  t.teardown(async () => {
    signalAll("SIGKILL");
    await ended;
    await rm(directory, { recursive: true });
  });
  return {
    directory,
    output: () => output,
    ended,
    kill: () => {
      signalAll("SIGKILL");
    },
    stop: async () => {
      signalAll("SIGINT");
      const tooLate = delay(60_000, "too late", { ref: false });
      if ((await Promise.race([ended, tooLate])) === "too late") {
        throw new Error(`The example goes on after Ctrl-C. It has printed:\n${output}`);
      }
    },
  };
}

/** Waits until an example has brought about what is expected, and asserts it. */
export async function untilEqual<Value>(
  t: ExecutionContext,
  { output }: RunningExample,
  read: () => Value | Promise<Value>,
  expected: Value,
): Promise<void> {
  const deadline = performance.now() + 60_000;
  let value = await read();
  while (!isDeepStrictEqual(value, expected) && performance.now() < deadline) {
    await delay(50);
    value = await read();
  }
  t.deepEqual(value, expected, output());
}
