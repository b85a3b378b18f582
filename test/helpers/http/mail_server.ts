import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";

/** What a mail server got. */
export interface Received {
  from: string;
  to: string[];
  message: string;
}

/** A real mail server on this machine, which keeps what it gets. */
export interface MailServer {
  /** Such as smtp://127.0.0.1:2525. */
  url: string;
  mailsTo: (address: string) => Received[];
  /** Refuses the next mails, until as many were refused. */
  refuse: (count: number) => void;
  /** How many connections were opened. */
  connections: () => number;
  /** How many are open. */
  openConnections: () => number;
  /** How many mails it is still going to refuse. */
  refusals: () => number;
  close: () => Promise<void>;
}

export async function openMailServer({ answersAfterMs = 0 } = {}): Promise<MailServer> {
  const received: Received[] = [];
  let refusals = 0;
  let connections = 0;
  let openConnections = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onConnect: (_session, done) => {
      connections += 1;
      openConnections += 1;
      setTimeout(done, answersAfterMs);
    },
    onMailFrom: (_address, _session, done) => {
      setTimeout(done, answersAfterMs);
    },
    onRcptTo: (_address, _session, done) => {
      setTimeout(done, answersAfterMs);
    },
    onClose: () => {
      openConnections -= 1;
    },
    onData: (stream, { envelope }, done) => {
      text(stream).then((message) => {
        if (refusals > 0) {
          refusals -= 1;
          done(new Error("451 come back later"));
          return;
        }
        const { mailFrom, rcptTo } = envelope;
        const from = mailFrom === false ? "" : mailFrom.address;
        received.push({ from, to: rcptTo.map(({ address }) => address), message });
        done();
      }, done);
    },
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    mailsTo: (address) => received.filter(({ to }) => to.includes(address)),
    refuse: (count) => {
      refusals = count;
    },
    connections: () => connections,
    openConnections: () => openConnections,
    refusals: () => refusals,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(resolve);
      }),
  };
}

/** The text of a mail as it was written: lines are broken on the way. */
export function readableMail(message: string): string {
  return message
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replaceAll("\r\n", "\n");
}
