import type { ClientBase } from "pg";
import { hasCode } from "../has_code.ts";
import { inOrder, note, soon } from "./finding.ts";
import type { Finding } from "./finding.ts";
import * as exchange from "./look_at_exchange.ts";
import * as machine from "./look_at_machine.ts";
import * as server from "./look_at_server.ts";

/** What the doctor looks at, by name. */
const looks: Record<string, (client: ClientBase) => Promise<Finding[]>> = {
  readiness: exchange.lookAtReadiness,
  // While commits wait, no worker works.
  replication: server.lookAtReplication,
  ledger: exchange.lookAtLedger,
  jobs: exchange.lookAtJobs,
  mails: exchange.lookAtMails,
  rights: exchange.lookAtRights,
  roles: exchange.lookAtRoles,
  owners: exchange.lookAtOwners,
  objects: exchange.lookAtObjects,
  settings: server.lookAtSettings,
  durability: server.lookAtDurability,
  connections: server.lookAtConnections,
  limits: server.lookAtLimits,
  vacuum: server.lookAtVacuum,
  archive: server.lookAtArchive,
  restore: server.lookAtRestore,
  disk: machine.lookAtDisk,
  clock: machine.lookAtClock,
};

export interface Examination {
  /** The most urgent comes first. */
  findings: Finding[];
  /** Names of what was looked at. */
  looked: string[];
}

/**
 * Looks at a deployment by a connection of its owner or of a superuser, and changes nothing. What
 * the login may not look at is a note.
 */
export async function examine(
  client: ClientBase,
  publicUrl: string | undefined,
): Promise<Examination> {
  const findings: Finding[] = [];
  const looked: string[] = [];
  for (const [name, look] of Object.entries(looks)) {
    try {
      findings.push(...(await look(client)));
      looked.push(name);
    } catch (error) {
      findings.push(...unseen(name, error));
    }
  }
  findings.push(...(await machine.lookAtCertificate(publicUrl)));
  return { findings: inOrder(findings), looked: [...looked, "certificate"] };
}

function unseen(name: string, error: unknown): Finding[] {
  // Before the migration, of which readiness tells, or without a role, of which roles tells.
  const message = error instanceof Error ? error.message : String(error);
  if (hasCode(error, "3F000", "42P01", "42883") || message.startsWith('role "exchange_')) return [];
  const problem = `could not be looked at: ${message}`;
  return [
    hasCode(error, "42501")
      ? note(
          name,
          problem,
          "run the doctor as a superuser, or as a member of exchange_owner and pg_monitor",
        )
      : soon(name, problem, "look at it by hand, and report this: the doctor should see it"),
  ];
}
