import { resolve } from "node:path";
import type { Config } from "../config.ts";
import { splitHosts } from "../database/hosts.ts";
import { lockDown } from "../database/privileges.ts";
import { startEmbeddedPostgres } from "./embedded_postgres.ts";

/** Where the embedded PostgreSQL is kept when no DATABASE_URL is given. */
export const embeddedDirectory = resolve(import.meta.dirname, "../../.data");

/** A database that can be connected to. */
export interface OpenDatabase {
  connectionString: string;
  isEmbedded: boolean;
  /** For the operator: which database this is, without a password. */
  description: string;
  /** After the migration: revokes what only a superuser can revoke, on the embedded PostgreSQL. */
  lockDown: () => Promise<void>;
  close: () => Promise<void>;
}

/** The database of DATABASE_URL, or the embedded one. Starts that if it does not run. */
export async function openDatabase(
  config: Pick<Config, "databaseUrl">,
  notice: (message: string) => void,
): Promise<OpenDatabase> {
  if (config.databaseUrl !== undefined) {
    return {
      connectionString: config.databaseUrl,
      isEmbedded: false,
      description: `the PostgreSQL of DATABASE_URL (${splitHosts(config.databaseUrl).map(hostOf).join(", ")})`,
      lockDown: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
  }
  const server = await startEmbeddedPostgres({ directory: embeddedDirectory, onNotice: notice });
  return {
    connectionString: server.connectionString,
    isEmbedded: true,
    description: `the embedded PostgreSQL: psql "${server.connectionString}"`,
    lockDown: () => lockDown(server.connectionString),
    close: async () => {
      if ((await server.stop()) === "left to others") {
        notice("the embedded PostgreSQL goes on: another process uses it");
      }
    },
  };
}

function hostOf(url: string): string {
  const { hostname, pathname } = new URL(url.replace(/@\//, "@localhost/"));
  return `${hostname}${pathname}`;
}
