import pg from "pg";
import type { ClientConfig } from "pg";
import { DatabaseNotReadyError } from "./not_ready.ts";
import { isReadOnly } from "./server_checks.ts";

/**
 * A connection string may name several hosts, as libpq's do: the primary and its standbys, in
 * any order. pg knows one host only, so this file finds the primary.
 */

/** One connection string for each host that this one names. */
export function splitHosts(connectionString: string): string[] {
  const [, scheme = "", login = "", authority = "", path = "", query = ""] =
    /^(\w+:\/\/)((?:[^@/?]*@)?)([^/?]*)([^?]*)\??(.*)$/s.exec(connectionString) ?? [];
  const parameters = new URLSearchParams(query);
  const wanted = parameters.get("target_session_attrs");
  const hosts = (parameters.get("host") ?? authority).split(",");
  if (hosts.length === 1 && wanted === null) return [connectionString];
  if (wanted !== null && !/^(?:read-write|primary)$/.test(wanted)) {
    throw new DatabaseNotReadyError(
      `target_session_attrs=${wanted}: the exchange writes, so it must be read-write or primary`,
    );
  }
  parameters.delete("target_session_attrs");
  const ports = parameters.get("port")?.split(",");
  return hosts.map((host, index) => {
    const own = new URLSearchParams(parameters);
    if (parameters.has("host")) own.set("host", host);
    const port = ports?.[index] ?? ports?.[0];
    if (port !== undefined) own.set("port", port);
    const tail = own.size > 0 ? `?${String(own)}` : "";
    return scheme + login + (parameters.has("host") ? authority : host) + path + tail;
  });
}

/** Which of these hosts to try next: shared by all pools of a process, also those made later. */
const currentHosts = new Map<string, { index: number }>();

/**
 * The client class of a pool for several hosts. A new client goes to the last host that was the
 * primary. If that host does not answer or takes no writes, the client fails, and later ones try the
 * next host. So a caller that retries finds the primary, also if it makes a new pool each time, as a
 * process does that starts.
 */
export function clientOfPrimary(
  connectionStrings: string[],
): new (config?: string | ClientConfig) => pg.Client {
  const name = connectionStrings.join(" ");
  const current = currentHosts.get(name) ?? { index: 0 };
  currentHosts.set(name, current);
  return class PrimaryClient extends pg.Client {
    readonly #tried: number;

    constructor(config?: string | ClientConfig) {
      const connectionString = connectionStrings[current.index] ?? "";
      super({ ...(typeof config === "string" ? {} : config), connectionString });
      this.#tried = current.index;
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
      const connected = this.#connectToPrimary();
      if (callback === undefined) return connected;
      // pg wants null for no error, against its types.
      connected.then(
        () => {
          callback(null as unknown as Error);
        },
        (error: unknown) => {
          callback(error as Error);
        },
      );
      return undefined;
    }

    async #connectToPrimary(): Promise<pg.Client> {
      try {
        await super.connect();
        if (await isReadOnly(this)) {
          throw new DatabaseNotReadyError("The server takes no writes", { reason: "read_only" });
        }
        return this;
      } catch (error) {
        if (current.index === this.#tried) {
          current.index = (current.index + 1) % connectionStrings.length;
        }
        void this.end().catch(() => undefined);
        throw error;
      }
    }
  };
}

/** The first host that takes writes, for tools that need one address. */
export async function findPrimary(connectionString: string): Promise<string> {
  const candidates = splitHosts(connectionString);
  const [only] = candidates;
  if (only !== undefined && candidates.length === 1) return only;
  let lastError: unknown;
  for (const candidate of candidates) {
    const client = new (clientOfPrimary([candidate]))({ connectionTimeoutMillis: 5000 });
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.end();
      return candidate;
    } catch (error) {
      lastError = error;
    }
  }
  throw new DatabaseNotReadyError("None of the hosts of DATABASE_URL takes writes", {
    reason: "database_unreachable",
    cause: lastError,
  });
}
