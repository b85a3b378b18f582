import { spawnSync } from "node:child_process";

/** Programs of Debian that a drill needs. */

const INSTALL_TIMEOUT_MS = 240_000;

/** Whether a program is here. */
export function hasProgram(name: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;
}

/**
 * Installs the package of each program that is missing, as root by apt-get, and stops the services that
 * the packages start. Whether all programs are here then.
 *
 * @param packages by program
 */
export function installMissing(packages: Record<string, string>): boolean {
  const missing = Object.entries(packages).filter(([program]) => !hasProgram(program));
  if (missing.length === 0) return true;
  if (process.getuid?.() !== 0 || !hasProgram("apt-get")) return false;
  const names = missing.map(([, name]) => name);
  console.log(`installing ${names.join(", ")}`);
  run("apt-get", ["update", "-qq"]);
  run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...names]);
  for (const [program] of missing) run("service", [program, "stop"]);
  return Object.keys(packages).every(hasProgram);
}

function run(program: string, args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync(program, args, { stdio: "ignore", env, timeout: INSTALL_TIMEOUT_MS });
}
