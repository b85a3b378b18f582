import type { ClientBase } from "pg";
import { call } from "../database/call.ts";
import { api } from "../database/calls.ts";
import { findMissingRoles, remedyForRoles } from "../database/missing_roles.ts";
import { findPrivilegeWarnings } from "../database/privileges.ts";
import { checkDatabase, checkSequences } from "../database/readiness.ts";
import { DatabaseNotReadyError } from "../database/not_ready.ts";
import { checkWritable } from "../database/server_checks.ts";
import { note, now, soon, those } from "./finding.ts";
import type { Finding } from "./finding.ts";

/** What the exchange itself says: readiness, rights, jobs, mails, the ledger. */

const DAY_S = 86_400;
const days = (seconds: number): string => `${(seconds / DAY_S).toFixed(1)} days`;

/** Whether servers would carry out an order. */
export async function lookAtReadiness(client: ClientBase): Promise<Finding[]> {
  try {
    await checkDatabase(client);
    await checkWritable(client);
    checkSequences(await call(client, api.listLaggingSequences, {}));
    return [];
  } catch (error) {
    if (!(error instanceof DatabaseNotReadyError)) throw error;
    return [now("readiness", "servers refuse this database", error.message)];
  }
}

/** Rights that too many logins have. */
export async function lookAtRights(client: ClientBase): Promise<Finding[]> {
  const warnings = await findPrivilegeWarnings(client);
  return warnings.map(({ name, message }) => soon("rights", name, message));
}

/** Roles that a migrated database had, and that were renamed or dropped since. */
export async function lookAtRoles(client: ClientBase): Promise<Finding[]> {
  const roles = await findMissingRoles(client);
  return those(
    roles.length > 0 &&
      now("roles", `the cluster lacks ${roles.join(", ")}`, remedyForRoles(roles[0] ?? "")),
  );
}

/** Whether functions, tables and rights are as the last installation left them. */
export async function lookAtObjects(client: ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<{ object: string }>(
    "select c.object from installer.changed_objects() as c",
  );
  const [first] = rows;
  return those(
    first !== undefined &&
      now(
        "objects",
        `${rows.length} are not as they were installed, such as the ${first.object}`,
        "docs/operating/upgrade.md, Upgrade, says how they are put back",
      ),
  );
}

/** Logins that may do whatever the owner may. */
export async function lookAtOwners(client: ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<{ names: string | null }>(
    `select string_agg(r.rolname, ', ' order by r.rolname) as names
     from pg_catalog.pg_roles as r
     where r.rolcanlogin and not r.rolsuper
       and exists (select from pg_catalog.pg_roles where rolname = 'exchange_owner')
       and pg_catalog.pg_has_role(r.oid, 'exchange_owner', 'member')`,
  );
  const names = rows[0]?.names ?? "";
  return those(
    names.includes(",") &&
      note(
        "roles",
        `several logins own the exchange: ${names}`,
        "they can rewrite history; keep this role to the login for migrations",
      ),
  );
}

/** Whether jobs run, and in time. */
export async function lookAtJobs(client: ClientBase): Promise<Finding[]> {
  const metrics = await call(client, api.getMetrics, {});
  const worker = await call(client, api.getWorkerMetrics, {});
  const { releaseLatenessSeconds, expiryLatenessSeconds, oldestJobLatenessSeconds } = metrics;
  const beat = worker.heartbeatAgeSeconds;
  const late = Math.max(releaseLatenessSeconds, expiryLatenessSeconds);
  return those(
    (beat === null || beat > 30) &&
      now(
        "worker",
        beat === null
          ? "no worker has ever worked"
          : `no worker has worked for ${beat.toFixed(0)} s`,
        "start npm run worker, or see its log: without it nothing is released, expired or closed",
      ),
    late > 30 &&
      now(
        "jobs",
        `releases or expiries are ${late.toFixed(0)} s late`,
        "read the worker's log; start a second worker",
      ),
    (oldestJobLatenessSeconds ?? 0) > 600 &&
      soon(
        "jobs",
        `a job waits for ${(oldestJobLatenessSeconds ?? 0).toFixed(0)} s`,
        "read the worker's log",
      ),
    metrics.pendingAnnouncements >= 1000 &&
      now(
        "events",
        `${metrics.pendingAnnouncements} events are not sent`,
        "a server relays them: see whether one is ready",
      ),
    metrics.notificationQueueUsage > 0.25 &&
      soon(
        "events",
        `the queue of notifications is ${(metrics.notificationQueueUsage * 100).toFixed(0)} % full`,
        "end the session that listens in a long transaction (pg_stat_activity)",
      ),
    metrics.tradingPaused &&
      note("trading", "the site is paused", "admin.set_trading_pause(false) opens it"),
  );
}

/** What the last check of the ledger found. */
export async function lookAtLedger(client: ClientBase): Promise<Finding[]> {
  const metrics = await call(client, api.getMetrics, {});
  const age = metrics.verificationAgeSeconds;
  const broken = metrics.brokenInvariants ?? 0;
  return those(
    broken > 0 &&
      now(
        "ledger",
        `the last check found ${broken} differences`,
        "pause the site, then read the last row of admin.verifications",
      ),
    (age === null || age > 1.1 * DAY_S) &&
      soon(
        "ledger",
        age === null ? "the ledger was never checked" : `the last check is ${days(age)} old`,
        "as the worker's login: set role exchange_worker; select jobs.verify_ledger(); a worker does it each night",
      ),
  );
}

/** Mails that do not leave. */
export async function lookAtMails(client: ClientBase): Promise<Finding[]> {
  const mails = await call(client, api.getMailMetrics, {});
  return those(
    mails.oldestMailAgeSeconds > 900 &&
      soon(
        "mails",
        `${mails.waitingMails} mails wait, the oldest for ${mails.oldestMailAgeSeconds.toFixed(0)} s`,
        "see SMTP_URL of the worker, and its log",
      ),
    mails.failedMails > 0 &&
      note("mails", `${mails.failedMails} mails were given up`, "admin.mails names them"),
  );
}
