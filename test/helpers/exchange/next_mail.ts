import { randomBytes } from "node:crypto";
import type { PoolClient } from "pg";
import { call } from "../../../src/database/call.ts";
import { jobs } from "../../../src/database/job_calls.ts";
import type { DueMail } from "../../../src/database/job_calls.ts";

/** The next mail to send, with the hash that its link has, if it has one. */
export async function nextMail(
  worker: PoolClient,
  { lanes = ["links", "sign_ups", "notices"], underWay = [] as string[] } = {},
): Promise<(DueMail & { tokenHash: Buffer }) | undefined> {
  const tokenHash = randomBytes(32);
  const mail = await call(worker, jobs.takeMail, { tokenHash, lanes, underWay });
  return mail && { ...mail, tokenHash };
}
