import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { compose } from "../../../src/mail/compose.ts";
import { formatSecret, sha256Of } from "../../../src/secrets.ts";
import { callService } from "./test_service.ts";
import type { Answer, CallOptions, TestService } from "./test_service.ts";

/** A browser on the website: it keeps its cookie, and gets a token for what it does. */
export interface Visitor {
  /** As the browser has it: "name=value". */
  cookie: string | undefined;
  /** The cookie that stays when the session has ended. */
  mark: string | undefined;
  /** A request of the pages, with the cookie, the token if there is one, and the Origin. */
  call: (method: string, path: string, options?: CallOptions) => Promise<Answer>;
  /** The session's token, asked for anew. */
  token: () => Promise<string | undefined>;
}

export function makeVisitor(service: Pick<TestService, "url">, browser = "Firefox"): Visitor {
  const visitor: Visitor = {
    cookie: undefined,
    mark: undefined,
    call: async (method, path, { headers, ...options } = {}) => {
      const token = await visitor.token();
      const cookies = [visitor.cookie, visitor.mark].filter((pair) => pair !== undefined);
      const answer = await callService(service.url, method, path, {
        ...(token !== undefined && { key: token }),
        ...options,
        headers: {
          ...(cookies.length > 0 && { cookie: cookies.join("; ") }),
          origin: service.url,
          "user-agent": browser,
          ...headers,
        },
      });
      for (const set of answer.headers.getSetCookie()) {
        const pair = set.split(";")[0]!;
        const kept = pair.endsWith("=") ? undefined : pair;
        if (set.startsWith("pgmarkets_browser=")) visitor.mark = kept;
        else visitor.cookie = kept;
      }
      return answer;
    },
    token: async () => {
      if (visitor.cookie === undefined) return undefined;
      const headers = { cookie: visitor.cookie };
      const { body } = await callService(service.url, "GET", "/api/auth/token", { headers });
      return body.token;
    },
  };
  return visitor;
}

/** A mail that was sent, with what stands behind the # of its link. */
export interface SentMail {
  kind: string;
  to: string;
  subject: string;
  text: string;
  token: string | undefined;
}

/** Takes the mails that are due, as a worker does that sends them. */
export async function takeMails(worker: Pool): Promise<SentMail[]> {
  const mails: SentMail[] = [];
  for (;;) {
    const token = formatSecret(randomBytes(32), "jl_");
    const { rows } = await worker.query(
      `select mail_id as "mailId", kind, address, details::text
       from jobs.take_mail(token_hash => $1)`,
      [sha256Of(token)],
    );
    const [row] = rows;
    if (row === undefined) return mails;
    await worker.query("select jobs.finish_mail(mail_id => $1)", [row.mailId]);
    const letter = compose(row, { siteUrl: "https://site.example", token });
    mails.push({ ...letter, kind: row.kind, token: /#(\S+)/.exec(letter.text)?.[1] });
  }
}

let made = 0;

/** What a new user signs up with; no other user has it. */
export function anybody() {
  made += 1;
  return {
    email: `Visitor-${made}@test.example`,
    displayName: `Visitor ${made}`,
    handle: `visitor-${made}`,
    password: `correct horse ${made}`,
  };
}

/** A user who signed up and followed the link of the mail. Sign-up must be open. */
export async function makeMember(service: Pick<TestService, "url" | "worker">, browser?: string) {
  const visitor = makeVisitor(service, browser);
  const person = anybody();
  const { body } = await visitor.call("POST", "/api/account/sign-up", { body: person });
  const mails = await takeMails(service.worker);
  const token = mails.find(({ to }) => to === person.email)?.token;
  // From an address of its own: attempts are counted by address.
  const headers = { "x-forwarded-for": `10.1.${made >> 8}.${made & 255}` };
  await visitor.call("POST", "/api/account/email/confirm", { body: { token }, headers });
  return { visitor, person, userId: body.userId as string };
}
