import { spawnSync } from "node:child_process";

/** Programs of Debian that a drill needs. */

const INSTALL_TIMEOUT_MS = 240_000;

/** Whether a program is here. */
export function hasProgram(name: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;
}

/** What a program comes from, and the service that its package starts. */
export interface Package {
  program: string;
  name: string;
  service: string;
}

/** As root by apt-get, installs what is missing, and stops what that starts. Elsewhere does nothing. */
export function installMissing(packages: Package[]): void {
  const missing = packages.filter(({ program }) => !hasProgram(program));
  if (missing.length === 0 || process.getuid?.() !== 0 || !hasProgram("apt-get")) return;
  const names = missing.map(({ name }) => name);
  console.log(`installing ${names.join(", ")}`);
  run("apt-get", ["update", "-qq"]);
  run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...names]);
  for (const { service } of missing) run("service", [service, "stop"]);
}

function run(program: string, args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync(program, args, { stdio: "ignore", env, timeout: INSTALL_TIMEOUT_MS });
}
