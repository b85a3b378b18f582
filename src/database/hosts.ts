import pg from "pg";
import type { ClientConfig } from "pg";
import { singleFlight } from "../single_flight.ts";
import { cut } from "./cut.ts";
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

/** How often it is looked whether the primary answers, while there are connections to it. */
const WATCH_MS = 3000;
/** A host that does not answer for so long is silent, as after a loss of power. */
const SILENCE_MS = 2000;

/** Several hosts: shared by all pools of a process, also those made later. */
interface Hosts {
  connectionStrings: string[];
  /** Which one to try next. */
  index: number;
  /** The host of each connection that is open. */
  open: Map<pg.Client, number>;
  watch?: NodeJS.Timeout;
}

const allHosts = new Map<string, Hosts>();

function hostsOf(connectionStrings: string[]): Hosts {
  const name = connectionStrings.join(" ");
  const known = allHosts.get(name) ?? { connectionStrings, index: 0, open: new Map() };
  allHosts.set(name, known);
  return known;
}

/**
 * The client class of a pool for several hosts. A new client goes to the last host that was the
 * primary. If that host does not answer or takes no writes, the client fails, and later ones try the
 * next host. So a caller that retries finds the primary, also if it makes a new pool each time, as a
 * process does that starts. Once another host is the primary, connections to the one before are cut:
 * one that was silent and comes back would answer from what it had before.
 */
export function clientOfPrimary(
  connectionStrings: string[],
): new (config?: string | ClientConfig) => pg.Client {
  const hosts = hostsOf(connectionStrings);
  return class PrimaryClient extends pg.Client {
    readonly #tried: number;

    constructor(config?: string | ClientConfig) {
      const connectionString = connectionStrings[hosts.index] ?? "";
      super({ ...(typeof config === "string" ? {} : config), connectionString });
      this.#tried = hosts.index;
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
        if (hosts.index !== this.#tried) {
          throw new DatabaseNotReadyError("Another host is the primary", {
            reason: "database_unreachable",
          });
        }
        keep(hosts, this);
        return this;
      } catch (error) {
        if (hosts.index === this.#tried) {
          hosts.index = (hosts.index + 1) % connectionStrings.length;
        }
        // The pool listens no more, and the server may break the connection before it has ended.
        this.on("error", () => undefined);
        void this.end().catch(() => undefined);
        throw error;
      }
    }
  };
}

/** Notes an open connection to the primary, cuts those to other hosts, and watches over it. */
function keep(hosts: Hosts, client: pg.Client): void {
  hosts.open.set(client, hosts.index);
  client.once("end", () => hosts.open.delete(client));
  leaveOthers(hosts);
  if (hosts.connectionStrings.length < 2 || hosts.watch !== undefined) return;
  const look = singleFlight(() => leaveSilentHost(hosts), 0);
  hosts.watch = setInterval(() => {
    if (hosts.open.size > 0) void look();
    else {
      clearInterval(hosts.watch);
      delete hosts.watch;
    }
  }, WATCH_MS).unref();
}

function leaveOthers({ open, index }: Hosts): void {
  for (const [client, host] of open) if (host !== index) cut(client);
}

/** Goes to another host if it takes writes and the one so far does not answer that it does. */
async function leaveSilentHost(hosts: Hosts): Promise<void> {
  const { connectionStrings, index } = hosts;
  if (await takesWrites(connectionStrings[index] ?? "")) return;
  const found = await Promise.all(connectionStrings.map(takesWrites));
  const next = found.findIndex((isPrimary, host) => isPrimary && host !== index);
  if (next < 0 || found[index] === true) return;
  hosts.index = next;
  leaveOthers(hosts);
}

async function takesWrites(connectionString: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: SILENCE_MS,
    query_timeout: SILENCE_MS,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return !(await isReadOnly(client));
  } catch {
    return false;
  } finally {
    void client.end().catch(() => undefined);
    cut(client);
  }
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
