import { randomBytes } from "node:crypto";
import { compose } from "../src/mail/compose.ts";
import type { MailTransport } from "../src/mail/transport.ts";
import { formatSecret, sha256Of } from "../src/secrets.ts";
import type { Job, JobContext } from "../src/worker/job.ts";

export interface MailOptions {
  transport: MailTransport;
  /** Where browsers find the website, without a slash at the end. */
  siteUrl: string;
}

/**
 * Sends the mails that are due, one after the other. A mail that can't be sent stays in the outbox
 * and is tried again; one that a lost worker was sending may be sent twice.
 */
export function sendMail(options: MailOptions): Job {
  // Mails with links and notices take turns: many of the one kind do not keep the other waiting.
  let noticesFirst = true;
  return {
    name: "mail__send",
    due: "mail",
    run: (context) =>
      context.untilNothingIsLeft(() => {
        noticesFirst = !noticesFirst;
        return sendNext({ ...options, noticesFirst }, context);
      }),
  };
}

async function sendNext(
  { transport, siteUrl, noticesFirst }: MailOptions & { noticesFirst: boolean },
  { calls, logger }: JobContext,
): Promise<number> {
  // Made here, so that the database never has what opens an account.
  const token = formatSecret(randomBytes(32), "jl_");
  const mail = await calls.takeMail({ tokenHash: sha256Of(token), noticesFirst });
  if (mail === undefined) return 0;
  const { mailId, kind } = mail;
  try {
    await transport.send(compose(mail, { siteUrl, token }));
  } catch (error) {
    logger.warn({ error, mailId, kind }, "a mail was not sent");
    await calls.finishMail({ mailId, error: error instanceof Error ? error.message : "unknown" });
    return 1;
  }
  await calls.finishMail({ mailId });
  return 1;
}
