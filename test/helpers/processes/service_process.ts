import { spawn } from "node:child_process";
import { resolve } from "node:path";
import type { ExecutionContext } from "ava";
import { compileCache, rootDirectory } from "../repository.ts";

/** A process of the service. */
export interface ServiceProcess {
  output: () => string;
  errors: () => string;
  /** Settles with the address that it prints, undefined if it ends before. */
  listening: Promise<string | undefined>;
  /** Settles once this is in its output or its log, or when it ends. */
  says: (text: string) => Promise<boolean>;
  exited: Promise<number | null>;
  kill: (signal: NodeJS.Signals) => void;
}

/** As `runService`; the process is killed when the test ends. */
export function startProcess(
  t: ExecutionContext,
  script: string,
  environment: Record<string, string>,
): ServiceProcess {
  const service = runService(script, environment);
  t.teardown(() => {
    service.kill("SIGKILL");
  });
  return service;
}

/** Runs a file of src/bin/ or of the path given, or a script of package.json. */
export function runService(script: string, environment: Record<string, string>): ServiceProcess {
  const [command, ...options] = script.endsWith(".ts")
    ? [process.execPath, resolve(rootDirectory, "src/bin", script)]
    : ["npm", "run", "--silent", script];
  const child = spawn(command, options, {
    cwd: rootDirectory,
    env: { PATH: process.env.PATH, ...compileCache, PORT: "0", DEMO: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [output, errors] = ["", ""];
  const waiting = new Set<() => void>();
  child.stdout.on("data", (chunk) => {
    output += String(chunk);
    for (const look of waiting) look();
  });
  child.stderr.on("data", (chunk) => {
    errors += String(chunk);
    for (const look of waiting) look();
  });
  const exited = new Promise<number | null>((resolve) => {
    child.on("close", resolve);
  });
  const matches = (find: () => string | undefined): Promise<string | undefined> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
      void exited.then(() => {
        resolve(find());
      });
    });
  return {
    output: () => output,
    errors: () => errors,
    listening: matches(() => /^listening on (\S+)$/m.exec(output)?.[1]),
    says: async (text) => {
      const includes = () => (`${output}\n${errors}`.includes(text) ? text : undefined);
      return (await matches(includes)) !== undefined;
    },
    exited,
    kill: (signal) => child.kill(signal),
  };
}
