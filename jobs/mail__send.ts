import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { DueMail } from "../src/database/job_calls.ts";
import { compose } from "../src/mail/compose.ts";
import type { MailTransport } from "../src/mail/transport.ts";
import { formatSecret, sha256Of } from "../src/secrets.ts";
import type { Job, JobContext } from "../src/worker/job.ts";

export interface MailOptions {
  transport: MailTransport;
  /** Where browsers find the website, without a slash at the end. */
  siteUrl: string;
}

/** See jobs.take_mail. No lane waits for another one, however long its mails are under way. */
const LANES = ["links", "notices", "sign_ups"];
/** A domain whose mail server does not answer holds up one of them, and not its lane. */
const MAILS_AT_ONCE_IN_A_LANE = 2;
/** While mails are under way, others may become due. */
const LOOK_AGAIN_MS = 100;

/**
 * Sends the mails that are due, in each lane a few at once, but one to a domain. A mail that can't be
 * sent stays in the outbox and is tried again; one that a lost worker was sending may be sent twice.
 */
export function sendMail(options: MailOptions): Job {
  return { name: "mail__send", due: "mail", run: (context) => sendAll(options, context) };
}

async function sendAll(options: MailOptions, context: JobContext): Promise<void> {
  const underWay = new Map<Promise<void>, { lane: string; address: string }>();
  try {
    for (;;) {
      let taken = 0;
      for (const lane of LANES) {
        const inLane = [...underWay.values()].filter((mail) => mail.lane === lane);
        if (context.isEnding() || inLane.length === MAILS_AT_ONCE_IN_A_LANE) continue;
        // Made here, so that the database never has what opens an account.
        const token = formatSecret(randomBytes(32), "jl_");
        const mail = await context.calls.takeMail({
          tokenHash: sha256Of(token),
          lanes: [lane],
          underWay: inLane.map(({ address }) => address),
        });
        if (mail === undefined) continue;
        taken += 1;
        // One that fails stays there, and ends the job: it was the database that failed.
        const sent = send(mail, token, options, context).then(() => void underWay.delete(sent));
        sent.catch(() => undefined);
        underWay.set(sent, { lane, address: mail.address });
      }
      if (taken > 0) continue;
      if (underWay.size === 0) return;
      await Promise.race([...underWay.keys(), delay(LOOK_AGAIN_MS)]);
    }
  } finally {
    await Promise.allSettled(underWay.keys());
  }
}

async function send(
  mail: DueMail,
  token: string,
  { transport, siteUrl }: MailOptions,
  { calls, logger }: JobContext,
): Promise<void> {
  const { mailId, kind } = mail;
  try {
    await transport.send(compose(mail, { siteUrl, token }));
  } catch (error) {
    logger.warn({ error, mailId, kind }, "a mail was not sent");
    await calls.finishMail({ mailId, error: error instanceof Error ? error.message : "unknown" });
    return;
  }
  await calls.finishMail({ mailId });
}
