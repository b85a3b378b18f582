import { createTransport } from "nodemailer";
import type { Config } from "../config.ts";
import type { Letter } from "./compose.ts";

/** Sends letters. It settles when the mail server has accepted one. */
export interface MailTransport {
  send: (letter: Letter) => Promise<void>;
}

export interface SmtpOptions {
  /** Such as smtp://user:password@mail.example.com:587. */
  smtpUrl: string;
  /** The sender. */
  from: string;
}

/** By the mail server of the configuration; undefined without one. */
export function mailTransport({
  smtpUrl,
  publicUrl,
  mailFrom,
}: Pick<Config, "smtpUrl" | "publicUrl" | "mailFrom">): MailTransport | undefined {
  if (smtpUrl === undefined || publicUrl === undefined) return undefined;
  return smtpTransport({ smtpUrl, from: mailFrom ?? `no-reply@${new URL(publicUrl).hostname}` });
}

/** For a server that does not answer. */
const TIMEOUT_MS = 20_000;

/** Sends by a mail server. */
export function smtpTransport({ smtpUrl, from }: SmtpOptions): MailTransport {
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // Mails are text from the database: none may name a file or an address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async ({ to, subject, text }) => {
      // As an object, so that no address is taken for several.
      await transport.sendMail({ from, to: { name: "", address: to }, subject, text });
    },
  };
}

/** For one machine without a mail server: shows what a mail says, link and all. */
export function printingTransport(print: (line: string) => void): MailTransport {
  return {
    send: ({ to, subject, text }) => {
      const link = /^https?:\S+#\S+$/m.exec(text)?.[0];
      print(`mail      to ${to}: ${subject}${link === undefined ? "" : ` ${link}`}`);
      return Promise.resolve();
    },
  };
}
