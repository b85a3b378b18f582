import pg from "pg";
import type { ClientBase } from "pg";
import { inOrder, note } from "./finding.ts";
import type { Finding } from "./finding.ts";
import * as exchange from "./look_at_exchange.ts";
import * as machine from "./look_at_machine.ts";
import * as server from "./look_at_server.ts";

/** What the doctor looks at, by name. */
const looks: Record<string, (client: ClientBase) => Promise<Finding[]>> = {
  readiness: exchange.lookAtReadiness,
  ledger: exchange.lookAtLedger,
  jobs: exchange.lookAtJobs,
  mails: exchange.lookAtMails,
  rights: exchange.lookAtRights,
  owners: exchange.lookAtOwners,
  settings: server.lookAtSettings,
  connections: server.lookAtConnections,
  vacuum: server.lookAtVacuum,
  replication: server.lookAtReplication,
  archive: server.lookAtArchive,
  disk: machine.lookAtDisk,
  clock: machine.lookAtClock,
};

/** Names of what is looked at. */
export const looked = [...Object.keys(looks), "certificate"];

/**
 * Looks at a deployment by a connection of its owner or of a superuser, and changes nothing. What
 * can't be looked at is a note. The most urgent comes first.
 */
export async function examine(
  client: ClientBase,
  publicUrl: string | undefined,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [name, look] of Object.entries(looks)) {
    findings.push(...(await look(client).catch((error: unknown) => unseen(name, error))));
  }
  return inOrder([...findings, ...(await machine.lookAtCertificate(publicUrl))]);
}

function unseen(name: string, error: unknown): Finding[] {
  // Before the migration, of which readiness tells.
  if (error instanceof pg.DatabaseError && /^42(P01|883)$/.test(error.code ?? "")) return [];
  const message = error instanceof Error ? error.message : String(error);
  const remedy = "run the doctor as a superuser, or as a member of exchange_owner and pg_monitor";
  return [note(name, `could not be looked at: ${message}`, remedy)];
}
