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
  /** An attempt has failed after this. */
  longestMs?: number;
  /** In milliseconds. */
  now?: () => number;
}

/** See jobs.take_mail. No lane waits for another one, however long its mails are under way. */
const LANES = ["links", "notices", "sign_ups"];
/** Attempts of a lane that have just begun. A server that answers gets no more connections. */
const YOUNG_AT_ONCE = 2;
/** Then a recipient stalls, and the lane goes on beside it. */
const YOUNG_MS = 250;
/** All attempts of a lane. Many mail servers take 50 connections from an address. */
const AT_ONCE_IN_A_LANE = 16;
/** The oldest attempt of a full lane ends for the next mail, but not earlier than this. */
const UNDISTURBED_MS = 3000;
/** Less than the minute after which another worker takes the mail. */
const LONGEST_MS = 20_000;
/** While mails are under way, others may become due. */
const LOOK_AGAIN_MS = 100;

/** One to send a mail. */
interface Attempt {
  lane: string;
  address: string;
  beganAt: number;
  ending: AbortController;
  done: Promise<void>;
}

/**
 * Sends the mails that are due, in each lane a few at once, but one to a domain. A mail that can't be
 * sent stays in the outbox and is tried again; one that a lost worker was sending may be sent twice.
 */
export function sendMail(options: MailOptions): Job {
  return { name: "mail__send", due: "mail", run: (context) => sendAll(options, context) };
}

async function sendAll(options: MailOptions, context: JobContext): Promise<void> {
  const { now = () => performance.now() } = options;
  const underWay = new Set<Attempt>();
  try {
    for (;;) {
      let taken = 0;
      for (const lane of LANES) {
        const inLane = [...underWay].filter((attempt) => attempt.lane === lane);
        const going = inLane.filter(({ ending }) => !ending.signal.aborted);
        const young = going.filter(({ beganAt }) => now() - beganAt < YOUNG_MS);
        if (context.isEnding() || young.length >= YOUNG_AT_ONCE) continue;
        const oldest = going.length < AT_ONCE_IN_A_LANE ? undefined : going[0];
        if (oldest !== undefined && now() - oldest.beganAt < UNDISTURBED_MS) continue;
        // Made here, so that the database never has what opens an account.
        const token = formatSecret(randomBytes(32), "jl_");
        const mail = await context.calls.takeMail({
          tokenHash: sha256Of(token),
          lanes: [lane],
          underWay: inLane.map(({ address }) => address),
        });
        if (mail === undefined) continue;
        taken += 1;
        oldest?.ending.abort(new Error("ended for the next mail"));
        const ending = new AbortController();
        const done = send(mail, token, options, context, ending);
        const attempt = { lane, address: mail.address, beganAt: now(), ending, done };
        underWay.add(attempt);
        // One that fails stays there, and ends the job: it was the database that failed.
        done.then(
          () => underWay.delete(attempt),
          () => undefined,
        );
      }
      if (taken > 0) continue;
      if (underWay.size === 0) return;
      await Promise.race([...[...underWay].map(({ done }) => done), delay(LOOK_AGAIN_MS)]);
    }
  } finally {
    await Promise.allSettled([...underWay].map(({ done }) => done));
  }
}

async function send(
  mail: DueMail,
  token: string,
  { transport, siteUrl, longestMs = LONGEST_MS }: MailOptions,
  { calls, logger }: JobContext,
  ending: AbortController,
): Promise<void> {
  const { mailId, kind } = mail;
  const { signal } = ending;
  const timer = setTimeout(() => {
    ending.abort(new Error(`not accepted within ${longestMs / 1000} s`));
  }, longestMs);
  try {
    await transport.send(compose(mail, { siteUrl, token }), signal);
  } catch (failure) {
    const error: unknown = signal.aborted ? signal.reason : failure;
    logger.warn({ error, mailId, kind }, "a mail was not sent");
    await calls.finishMail({ mailId, error: error instanceof Error ? error.message : "unknown" });
    return;
  } finally {
    clearTimeout(timer);
  }
  await calls.finishMail({ mailId });
}
