import { randomInt, randomUUID } from "node:crypto";
import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { randomKeyed, roleOf, sendAgain, switchKeeper } from "./keyed_load.ts";
import type { Keyed, SwitchSet } from "./keyed_load.ts";

/** Clients of a server that is killed, and the answers that they get. */

/** One answer, or how a request ended without any. */
export interface Answer {
  /**
   * unsent: the connection was refused; cut: it broke, and the outcome is unknown;
   * unknown: the server doesn't know either; conflict: nothing happened of this attempt, which says
   * nothing about earlier ones. A server that still waits for its database answers conflict, too.
   */
  kind: "accepted" | "refused" | "conflict" | "unknown" | "cut" | "unsent" | "unexpected";
  /** For people: status and code, or the error of the socket. */
  told: string;
  /** The body as it came. */
  text: string;
  body: AnswerBody;
  /** By its header. */
  replayed: boolean;
  /** Of a command that was accepted before the kill and sent again after it. */
  isRepetition?: boolean;
}

/** What the drills read of an answer. */
interface AnswerBody {
  order?: { id: string; filledQuantity: number; status: string };
  queuePositionChanged?: boolean;
  expiresAt?: string | null;
  results?: { status: number; body: { order?: { id: string } } }[];
  failures?: { code: string }[];
}

/** A command and all that was answered to it, one answer for each time that it was sent. */
export interface Command {
  answers: Answer[];
}

/** An order, which nothing else in the database has the expiry of. */
export interface Placing extends Command {
  expiresAt: string;
  key: string | undefined;
}

/** A cancellation, the only one of its order, unless the order may have ended otherwise. */
export interface Cancelling extends Command {
  orderId: string;
  isOnly: boolean;
}

/** All that the clients have done so far. */
export interface Journal {
  placings: Placing[];
  cancellings: Cancelling[];
  keyed: Keyed[];
  switches: SwitchSet[];
}

export interface LoadOptions {
  /** Of the server; a function is asked before each request, by the number of the client. */
  url: string | ((client: number) => string);
  marketIds: string[];
  /** API keys; the clients share them. */
  apiKeys: string[];
  journal: Journal;
  /** How many; by default as many as the drills have. */
  clients?: number;
  /** The number of the first one; by default 0. */
  firstClient?: number;
  /** How long a client waits between two commands; by default not at all. */
  pauseMs?: number;
  /** How long a client repeats a command, and waits for one that is accepted. */
  patienceMs?: number;
  /** Some of the clients send commands with keys and have switches; then each has its own user. */
  withKeys?: boolean;
  /** Each command is an order without a key, which is sent once, whatever becomes of it. */
  onlyOnce?: boolean;
}

/** Clients at work. */
export interface Load {
  /** Lets every client finish what it has begun, repeated until it knows the outcome. */
  stop: () => Promise<void>;
  /** Sends what was accepted and has a key once more. */
  repeat: () => Promise<void>;
  /** Settles when a command is accepted that was sent from now on. */
  nextAccepted: () => Promise<void>;
  /** When the last command was sent that was accepted, by `performance.now()`. */
  lastAcceptedAt: () => number;
}

const CLIENTS = 16;
const RETRY_MS = 50;
const PATIENCE_MS = 60_000;
const REQUEST_TIMEOUT_MS = 20_000;

/** No two orders of a drill expire at the same millisecond, in a month or so. */
let nextExpiry = Date.now() + 30 * 86_400_000;

/** Starts the clients. */
export function startLoad(options: LoadOptions): Load {
  const state = { stopping: false };
  const waiting: { since: number; resolve: () => void }[] = [];
  let lastAcceptedAt = -Infinity;
  const onAccepted = (sentAt: number) => {
    lastAcceptedAt = Math.max(lastAcceptedAt, sentAt);
    for (const waiter of waiting) if (sentAt >= waiter.since) waiter.resolve();
  };
  const clients = Array.from({ length: options.clients ?? CLIENTS }, (_, index) =>
    runClient(options, (options.firstClient ?? 0) + index, state, onAccepted),
  );
  return {
    stop: async () => {
      state.stopping = true;
      await Promise.all(clients);
    },
    repeat: async () => {
      const { url, apiKeys, journal } = options;
      const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
      await sendAgain([...journal.keyed, ...journal.switches], (one) =>
        request({
          ...{ method: one.method, body: one.body, key: one.key, agent },
          url: (typeof url === "string" ? url : url(one.user)) + one.path,
          apiKey: apiKeys[one.user % apiKeys.length] ?? "",
        }),
      );
      agent.destroy();
    },
    nextAccepted: async () => {
      const { patienceMs = PATIENCE_MS } = options;
      const accepted = new Promise<true>((resolve) => {
        waiting.push({
          since: performance.now(),
          resolve: () => {
            resolve(true);
          },
        });
      });
      if (await Promise.race([accepted, delay(patienceMs, false, { ref: false })])) return;
      throw new Error(`Nothing was accepted for ${patienceMs} ms`);
    },
    lastAcceptedAt: () => lastAcceptedAt,
  };
}

async function runClient(
  options: LoadOptions,
  index: number,
  state: { stopping: boolean },
  onAccepted: (sentAt: number) => void,
): Promise<void> {
  const { url, marketIds, apiKeys, journal, pauseMs = 0 } = options;
  const { withKeys = false, onlyOnce = false, patienceMs = PATIENCE_MS } = options;
  const apiKey = apiKeys[index % apiKeys.length] ?? "";
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const send = async (
    method: string,
    path: string,
    body?: object,
    key?: string,
  ): Promise<Answer> => {
    const sentAt = performance.now();
    const to = (typeof url === "string" ? url : url(index)) + path;
    const answer = await request({ url: to, method, agent, apiKey, body, key });
    if (answer.kind === "accepted") onAccepted(sentAt);
    return answer;
  };
  const openOrderIds: string[] = [];

  const cancel = async (orderId: string): Promise<Command> => {
    const isOnly = !withKeys || roleOf(index) === "plain";
    const cancelling: Cancelling = { orderId, isOnly, answers: [] };
    journal.cancellings.push(cancelling);
    await sendUntilKnown(cancelling, patienceMs, () => send("DELETE", `/api/v1/orders/${orderId}`));
    return cancelling;
  };

  const place = async (): Promise<Command> => {
    const expiresAt = new Date(nextExpiry++).toISOString();
    const key = !onlyOnce && Math.random() < 0.75 ? randomUUID() : undefined;
    const placing: Placing = { expiresAt, key, answers: [] };
    journal.placings.push(placing);
    const order = { ...randomOrder(marketIds), expiresAt, idempotencyKey: key };
    const sendOrder = () => send("POST", "/api/v1/orders", order);
    if (key === undefined) placing.answers.push(await sendOrder());
    else await sendUntilKnown(placing, patienceMs, sendOrder);
    const placed = placing.answers.at(-1)?.body.order;
    if (placed && /open|partially_filled/.test(placed.status)) openOrderIds.push(placed.id);
    return placing;
  };

  const sendKeyed = async (keyed: Keyed): Promise<void> => {
    const { method, path, body, key } = keyed;
    await sendUntilKnown(keyed, patienceMs, () => send(method, path, body, key));
  };
  const keepSwitch = switchKeeper(index, sendKeyed, (set) => journal.switches.push(set));
  const once = async (): Promise<Command> => {
    const nextExpiresAt = () => new Date(nextExpiry++).toISOString();
    const keyed = randomKeyed({
      ...{ user: index, marketIds, openOrderIds, nextExpiry: nextExpiresAt },
    });
    journal.keyed.push(keyed);
    await sendKeyed(keyed);
    return keyed;
  };
  const next = async (): Promise<Command> => {
    if (withKeys) await keepSwitch();
    if (withKeys && roleOf(index) === "sends keys" && Math.random() < 0.6) return await once();
    const orderId = !onlyOnce && Math.random() < 0.2 ? openOrderIds.shift() : undefined;
    return orderId === undefined ? await place() : await cancel(orderId);
  };

  while (!state.stopping) {
    const command = await next();
    if (!isKnown(command)) await delay(RETRY_MS);
    else if (pauseMs > 0) await delay(pauseMs);
  }
  agent.destroy();
}

/** Orders around the middle, so that they rest and meet, also those of the same trader. */
function randomOrder(marketIds: string[]): object {
  const form = Math.random();
  return {
    marketId: marketIds[randomInt(marketIds.length)],
    side: Math.random() < 0.5 ? "yes" : "no",
    price: randomInt(35, 66),
    quantity: randomInt(1, 20),
    ...(form < 0.1 && { timeInForce: "ioc" }),
    ...(form > 0.9 && { postOnly: true }),
  };
}

/**
 * Repeats a command that may have been carried out. One that was not is left at that, so that it
 * can be checked that nothing of it is there.
 */
async function sendUntilKnown(
  command: Command,
  patienceMs: number,
  send: () => Promise<Answer>,
): Promise<void> {
  const deadline = Date.now() + patienceMs;
  let mayBeDone = false;
  while (Date.now() < deadline) {
    const answer = await send();
    command.answers.push(answer);
    mayBeDone ||= answer.kind === "unknown" || answer.kind === "cut";
    if (isKnown(command) || !mayBeDone) return;
    await delay(RETRY_MS);
  }
}

/** Whether its last answer says what became of a command, however often it was sent. */
export function isKnown({ answers }: Command): boolean {
  return /accepted|refused|unexpected/.test(answers.at(-1)?.kind ?? "");
}

interface RequestOptions {
  url: string;
  method: string;
  agent: http.Agent;
  apiKey: string;
  body?: object | undefined;
  key?: string | undefined;
}

/** One request. By node:http and not by fetch, which may send a request again unasked. */
export async function request({
  url,
  method,
  agent,
  apiKey,
  body,
  key,
}: RequestOptions): Promise<Answer> {
  return await new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => {
      const kind = error.code === "ECONNREFUSED" ? "unsent" : "cut";
      resolve({ kind, told: error.code ?? error.message, text: "", body: {}, replayed: false });
    };
    const headers = {
      ...{ authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      ...(key !== undefined && { "idempotency-key": key }),
    };
    const sent = http.request(
      url,
      { method, agent, headers, timeout: REQUEST_TIMEOUT_MS },
      (response) => {
        let text = "";
        response.on("data", (chunk) => (text += String(chunk)));
        response.on("error", fail);
        response.on("end", () => {
          const replayed = response.headers["idempotency-replayed"] === "true";
          resolve(readAnswer(response.statusCode ?? 0, text, replayed));
        });
      },
    );
    sent.on("timeout", () => sent.destroy(new Error("timeout")));
    sent.on("error", fail);
    sent.end(body && JSON.stringify(body));
  });
}

function readAnswer(status: number, text: string, replayed: boolean): Answer {
  const body = JSON.parse(text);
  const told = `${status} ${body.code ?? ""}`.trim();
  return { kind: kindOf(status, body.code), told, text, body, replayed };
}

function kindOf(status: number, code: string | undefined): Answer["kind"] {
  if (status === 200 || status === 201) return "accepted";
  if (code === "IDEMPOTENCY_KEY_REUSED") return "unexpected";
  if (status === 400 || status === 422 || code === "DEAD_MAN_FIRED") return "refused";
  if (status === 503 && code === "CONFLICT_RETRY") return "conflict";
  if (status === 503 && code === "OUTCOME_UNKNOWN") return "unknown";
  return "unexpected";
}
