import { chown, cp, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import {
  destroyEmbeddedPostgres,
  startEmbeddedPostgres,
} from "../../src/local/embedded_postgres.ts";
import { connectTo, dataDirectoryOf } from "./system.ts";
import type { TemporaryCluster } from "../helpers/database/temporary_cluster.ts";

/** A copy of a running cluster, as pg_basebackup would make it. */
export interface Copy {
  directory: string;
  dataDirectory: string;
  /**
   * Starts it. An empty file, recovery.signal or standby.signal, says as what. The database is one
   * that it has: a standby makes none.
   */
  start: (
    as: "recovery" | "standby",
    settings: Record<string, string>,
    database?: string,
  ) => Promise<TemporaryCluster>;
  destroy: () => Promise<void>;
}

/** `primary_conninfo` of a standby that follows this cluster, and its name there. */
export function conninfoOf({ server }: TemporaryCluster, name: string): string {
  return `host=${server.socketDirectory} port=5432 user=postgres application_name=${name}`;
}

/** What belongs to the running server and not to its data. */
const leftOut = new Set(["postmaster.pid", "postmaster.opts", "pg_wal"]);

/**
 * Copies the files of a running cluster, between the start and the stop of a backup, and what
 * changed meanwhile is made good by the WAL when the copy is started.
 */
export async function copyCluster(cluster: TemporaryCluster): Promise<Copy> {
  const from = await dataDirectoryOf(cluster);
  const owner = await stat(from);
  const directory = await mkdtemp(join(tmpdir(), `pgmarkets-drill-${process.pid}-`));
  const dataDirectory = join(directory, "postgres");
  const own = (path: string) => chown(path, owner.uid, owner.gid);
  const write = async (name: string, text: string) => {
    const path = join(dataDirectory, name);
    await writeFile(path, text, { mode: 0o600 });
    await own(path);
  };

  const client = await connectTo(cluster.server.connectionString);
  try {
    await client.query("select pg_backup_start(label => 'drill', fast => true)");
    await cp(from, dataDirectory, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !leftOut.has(basename(path)) || path.includes("/base/"),
    });
    const { rows } = await client.query("select labelfile from pg_backup_stop()");
    await own(dataDirectory);
    await mkdir(join(dataDirectory, "pg_wal"), { mode: 0o700 });
    await own(join(dataDirectory, "pg_wal"));
    await write("backup_label", rows[0].labelfile);
  } finally {
    await client.end();
  }

  const destroy = () => destroyEmbeddedPostgres(directory);
  return {
    directory,
    dataDirectory,
    start: async (as, settings, database = "pgmarkets") => {
      await write(`${as}.signal`, "");
      const server = await startEmbeddedPostgres({ directory, settings, database });
      return { directory, server, destroy };
    },
    destroy: async () => {
      await destroy();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
