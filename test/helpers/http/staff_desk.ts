import { pino } from "pino";
import { asServerPools } from "../../../src/database/server_pools.ts";
import { createEndpoint } from "../../../src/graphql/endpoint.ts";
import { serve } from "../../../src/server/start_server.ts";
import type { RunningServer } from "../../../src/server/start_server.ts";
import { openWebsite } from "../../../src/site/open.ts";
import { callService } from "./test_service.ts";
import type { Answer, CallOptions, TestService } from "./test_service.ts";
import { takeMails } from "./visitor.ts";
import { assertionOf, attestationOf, makePasskey } from "./authenticator.ts";
import type { Ceremony, Passkey } from "./authenticator.ts";

/** A browser at the pages of staff. */
export interface Desk {
  /** As the browser has it: "name=value". */
  cookie: string | undefined;
  call: (method: string, path: string, options?: CallOptions) => Promise<Answer>;
}

export interface Invitation {
  staffId: string;
  email: string;
  name: string;
  /** What stands behind the # of the link. */
  token: string;
}

export interface Member extends Omit<Invitation, "token"> {
  password: string;
  passkey: Passkey;
  /** The browser in which the invitation was accepted. */
  browser: Desk;
}

/** What is different about an attempt to sign in. */
export interface Change {
  email?: string;
  password?: string;
  passkey?: Passkey;
  ceremony?: Partial<Ceremony>;
  headers?: Record<string, string>;
}

/** A server with a login of operators, behind a proxy that says where requests come from. */
export async function listenForStaff(
  { database }: Pick<TestService, "database">,
  { website = false } = {},
): Promise<RunningServer> {
  const logger = pino({ level: "silent" });
  const operators = createEndpoint({
    ...{ role: "operator", logger, pool: database.connectAs("exchange_operator", { max: 4 }) },
  });
  await operators.prepare();
  return await serve({
    pools: asServerPools(database.connectAs("exchange_api")),
    config: { host: "127.0.0.1", port: 0, trustProxy: true },
    logger,
    graphql: { operators },
    ...(website && { website: await openWebsite(logger) }),
  });
}

let made = 0;

/** Members of staff at a server with this address. */
export function staffAt(service: Pick<TestService, "operate" | "worker">, urlOf: () => string) {
  const { operate } = service;
  const siteOf = () => ({ origin: urlOf(), rpId: new URL(urlOf()).hostname });

  function makeDesk(): Desk {
    const browser: Desk = {
      cookie: undefined,
      call: async (method, path, { headers, ...options } = {}) => {
        const { cookie } = browser;
        const own = { ...(cookie !== undefined && { cookie }), origin: urlOf() };
        const answer = await callService(urlOf(), method, path, {
          ...options,
          headers: { ...own, ...headers },
        });
        for (const set of answer.headers.getSetCookie()) {
          const pair = set.split(";")[0]!;
          browser.cookie = pair.endsWith("=") ? undefined : pair;
        }
        return answer;
      },
    };
    return browser;
  }

  /** Makes a member of staff; gives what the mail of the invitation says. */
  async function invite(roles: string[]): Promise<Invitation> {
    made += 1;
    const [email, name] = [`Member-${made}@staff.example`, `Person ${made}`];
    const staffId: string = await operate("create_staff", { email, name, roles });
    return { staffId, email, name, token: await mailedToken(email) };
  }

  /** What stands behind the # of the link in the mail that invites this address. */
  async function mailedToken(email: string): Promise<string> {
    const mails = await takeMails(service.worker);
    const mail = mails.find(({ kind, to }) => kind === "staff_invitation" && to === email);
    return mail!.token!;
  }

  /** The page of an invitation: who is invited, and a passkey that the browser has made. */
  async function welcome(browser: Desk, token: string, change: Partial<Ceremony> = {}) {
    const shown = await browser.call("POST", "/api/operator/invitation", { body: { token } });
    if (shown.status !== 200) throw new Error(JSON.stringify(shown.body));
    const passkey = makePasskey(shown.body.options.user.id);
    const { challenge } = shown.body.options;
    const credential = attestationOf(passkey, { ...siteOf(), challenge, ...change });
    return { shown, passkey, credential };
  }

  const accept = (browser: Desk, body: object) =>
    browser.call("POST", "/api/operator/invitation/accept", {
      body: { passkeyName: "My key", ...body },
    });

  /** A person who has accepted the invitation. */
  async function makeStaff(roles: string[]): Promise<Member> {
    const { staffId, email, name, token } = await invite(roles);
    const browser = makeDesk();
    const password = `battery staple ${made}`;
    const { passkey, credential } = await welcome(browser, token);
    const { status, body } = await accept(browser, { token, password, credential });
    if (status !== 201) throw new Error(JSON.stringify(body));
    return { staffId, name, email, password, passkey, browser };
  }

  const newChallenge = async (browser: Desk): Promise<string> =>
    (await browser.call("POST", "/api/account/sign-in-passkey/options")).body.challenge;

  async function signIn(
    member: Member,
    { ceremony, headers = {}, passkey = member.passkey, ...change }: Change = {},
    browser = makeDesk(),
  ): Promise<Answer> {
    const challenge = await newChallenge(browser);
    const credential = assertionOf(passkey, { ...siteOf(), challenge, ...ceremony });
    const { email, password } = { ...member, ...change };
    const answer = await browser.call("POST", "/api/operator/sign-in", {
      ...{ body: { email, password, credential }, headers },
    });
    return answer;
  }

  return {
    siteOf,
    makeDesk,
    invite,
    mailedToken,
    welcome,
    accept,
    makeStaff,
    newChallenge,
    signIn,
  };
}
