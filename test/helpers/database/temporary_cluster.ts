import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  destroyEmbeddedPostgres,
  startEmbeddedPostgres,
} from "../../../src/local/embedded_postgres.ts";
import type {
  EmbeddedPostgres,
  EmbeddedPostgresOptions,
} from "../../../src/local/embedded_postgres.ts";

/** A PostgreSQL of this process' own, in a temporary directory. */
export interface TemporaryCluster {
  directory: string;
  server: EmbeddedPostgres;
  /** Stops the server and deletes the directory. */
  destroy: () => Promise<void>;
}

/**
 * Starts a PostgreSQL in a new directory below `parent`, which is the temporary directory unless
 * given, and removes those that earlier processes for the same purpose were killed over.
 */
export async function startTemporaryCluster(
  purpose: string,
  options: Omit<EmbeddedPostgresOptions, "directory">,
  parent = tmpdir(),
): Promise<TemporaryCluster> {
  const prefix = `pgmarkets-${purpose}-`;
  await sweep(parent, prefix);
  const directory = await mkdtemp(join(parent, `${prefix}${process.pid}-`));
  const destroy = () => destroyEmbeddedPostgres(directory);
  try {
    return { directory, server: await startEmbeddedPostgres({ ...options, directory }), destroy };
  } catch (error) {
    await destroy();
    throw error;
  }
}

/** Removes what runs that were killed have left behind. */
async function sweep(parent: string, prefix: string): Promise<void> {
  const names = await readdir(parent);
  for (const name of names.filter((candidate) => candidate.startsWith(prefix))) {
    const processId = Number(name.slice(prefix.length).split("-")[0]);
    if (isAlive(processId)) continue;
    // Another user's leftovers are theirs.
    await destroyEmbeddedPostgres(join(parent, name)).catch(() => undefined);
  }
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
