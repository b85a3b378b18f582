import { spawnSync } from "node:child_process";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../../src/has_code.ts";
import { withClient } from "./run.ts";
import type { System } from "./system.ts";

/** Small disks, and how they run full. */

/** Whether a small disk can be mounted here: as root, and not in every container. */
export function mayMount(): boolean {
  // In a mount namespace of its own, so that the attempt leaves nothing behind.
  return (
    process.getuid?.() === 0 && run("unshare", ["--mount", "mount", "-t", "tmpfs", "x", "/mnt"])
  );
}

/** Mounts a disk of this size, such as 256m, on an empty folder. */
export function mountDisk(path: string, size: string): void {
  if (!run("mount", ["-t", "tmpfs", "-o", `size=${size},mode=700`, "tmpfs", path])) {
    throw new Error("The disk can't be mounted");
  }
}

/** Takes a disk away, if there is one. */
export function unmountDisk(path: string): void {
  run("umount", [path]);
}

function run(program: string, args: string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}

/** Takes what space is left, also while others take or free some; the file that does. */
export async function fillDisk(disk: string): Promise<string> {
  const path = join(disk, "ballast");
  const file = await open(path, "a");
  try {
    for (const size of [1 << 20, 1 << 12]) {
      const piece = Buffer.alloc(size);
      while (await fits(file.write(piece)));
    }
  } finally {
    await file.close();
  }
  return path;
}

async function fits(writing: Promise<unknown>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    if (hasCode(error, "ENOSPC")) return false;
    throw error;
  }
}

/** Has PostgreSQL ask for one segment of WAL after the other, until there is no more. */
export async function useUpSegments(connect: System["connect"]): Promise<void> {
  try {
    await withClient(connect, async (client) => {
      for (;;) {
        await client.query("select pg_logical_emit_message(true, 'drill', 'next')");
        await client.query("select pg_switch_wal()");
      }
    });
  } catch {
    // This is how it ends.
  }
}
