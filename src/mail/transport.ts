import { createTransport } from "nodemailer";
import type { Config } from "../config.ts";
import type { Letter } from "./compose.ts";

/** Sends letters. */
export interface MailTransport {
  /** Settles when the mail server has accepted the letter. Fails at once when the signal is aborted. */
  send: (letter: Letter, signal: AbortSignal) => Promise<void>;
  /** Ends the connections. */
  close: () => Promise<void>;
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

/** For a server that cannot be reached, and for one that does not say goodbye. */
const CONNECTION_TIMEOUT_MS = 5000;
const ANSWER_TIMEOUT_MS = 20_000;
/** Connections are kept while there is mail. */
const IDLE_TIMEOUT_MS = 10_000;

/** Sends by a mail server. */
export function smtpTransport({ smtpUrl, from }: SmtpOptions): MailTransport {
  const transport = createTransport({
    url: smtpUrl,
    pool: true,
    // Who sends decides how many mails are under way.
    maxConnections: Infinity,
    // When the server has closed a kept connection, the mail goes by a new one.
    maxRequeues: 1,
    idleTimeout: IDLE_TIMEOUT_MS,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    socketTimeout: ANSWER_TIMEOUT_MS,
    // Mails are text from the database: none may name a file or an address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async ({ to, subject, text }, signal) => {
      // As an object, so that no address is taken for several.
      await transport.sendMail({ from, to: { name: "", address: to }, subject, text, signal });
    },
    close: () => {
      transport.close();
      return Promise.resolve();
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
    close: () => Promise.resolve(),
  };
}
