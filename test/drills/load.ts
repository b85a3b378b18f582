import { randomInt, randomUUID } from "node:crypto";
import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";

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
  body: { order?: { id: string; filledQuantity: number; status: string } };
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

/** A cancellation, the only one of its order. */
export interface Cancelling extends Command {
  orderId: string;
}

/** All that the clients have done so far. */
export interface Journal {
  placings: Placing[];
  cancellings: Cancelling[];
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
  /** How long a client waits between two commands; by default not at all. */
  pauseMs?: number;
}

/** Clients at work. */
export interface Load {
  /** Lets every client finish what it has begun, repeated until it knows the outcome. */
  stop: () => Promise<void>;
  /** Settles when a command is accepted that was sent from now on. */
  nextAccepted: () => Promise<void>;
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
  const onAccepted = (sentAt: number) => {
    for (const waiter of waiting) if (sentAt >= waiter.since) waiter.resolve();
  };
  const clients = Array.from({ length: options.clients ?? CLIENTS }, (_, index) =>
    runClient(options, index, state, onAccepted),
  );
  return {
    stop: async () => {
      state.stopping = true;
      await Promise.all(clients);
    },
    nextAccepted: async () => {
      const accepted = new Promise<true>((resolve) => {
        waiting.push({
          since: performance.now(),
          resolve: () => {
            resolve(true);
          },
        });
      });
      if (await Promise.race([accepted, delay(PATIENCE_MS, false, { ref: false })])) return;
      throw new Error(`Nothing was accepted for ${PATIENCE_MS} ms`);
    },
  };
}

async function runClient(
  { url, marketIds, apiKeys, journal, pauseMs = 0 }: LoadOptions,
  index: number,
  state: { stopping: boolean },
  onAccepted: (sentAt: number) => void,
): Promise<void> {
  const apiKey = apiKeys[index % apiKeys.length] ?? "";
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const send = async (method: string, path: string, body?: object): Promise<Answer> => {
    const sentAt = performance.now();
    const to = (typeof url === "string" ? url : url(index)) + path;
    const answer = await request({ url: to, method, agent, apiKey, body });
    if (answer.kind === "accepted") onAccepted(sentAt);
    return answer;
  };
  const openOrderIds: string[] = [];

  const cancel = async (orderId: string): Promise<Command> => {
    const cancelling: Cancelling = { orderId, answers: [] };
    journal.cancellings.push(cancelling);
    await sendUntilKnown(cancelling, () => send("DELETE", `/api/v1/orders/${orderId}`));
    return cancelling;
  };

  const place = async (): Promise<Command> => {
    const expiresAt = new Date(nextExpiry++).toISOString();
    const key = Math.random() < 0.75 ? randomUUID() : undefined;
    const placing: Placing = { expiresAt, key, answers: [] };
    journal.placings.push(placing);
    const order = { ...randomOrder(marketIds), expiresAt, idempotencyKey: key };
    const sendOrder = () => send("POST", "/api/v1/orders", order);
    if (key === undefined) placing.answers.push(await sendOrder());
    else await sendUntilKnown(placing, sendOrder);
    const placed = placing.answers.at(-1)?.body.order;
    if (placed && /open|partially_filled/.test(placed.status)) openOrderIds.push(placed.id);
    return placing;
  };

  while (!state.stopping) {
    const orderId = Math.random() < 0.2 ? openOrderIds.shift() : undefined;
    const command = orderId === undefined ? await place() : await cancel(orderId);
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
async function sendUntilKnown(command: Command, send: () => Promise<Answer>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
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
  body: object | undefined;
}

/** By node:http and not by fetch, which may send a request again unasked. */
async function request({ url, method, agent, apiKey, body }: RequestOptions): Promise<Answer> {
  return await new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => {
      const kind = error.code === "ECONNREFUSED" ? "unsent" : "cut";
      resolve({ kind, told: error.code ?? error.message, body: {} });
    };
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const sent = http.request(
      url,
      { method, agent, headers, timeout: REQUEST_TIMEOUT_MS },
      (response) => {
        let text = "";
        response.on("data", (chunk) => (text += String(chunk)));
        response.on("error", fail);
        response.on("end", () => {
          resolve(readAnswer(response.statusCode ?? 0, text));
        });
      },
    );
    sent.on("timeout", () => sent.destroy(new Error("timeout")));
    sent.on("error", fail);
    sent.end(body && JSON.stringify(body));
  });
}

function readAnswer(status: number, text: string): Answer {
  const body = JSON.parse(text);
  const told = `${status} ${body.code ?? ""}`.trim();
  return { kind: kindOf(status, body.code), told, body };
}

function kindOf(status: number, code: string | undefined): Answer["kind"] {
  if (status === 200 || status === 201) return "accepted";
  if (status === 400 || status === 422) return "refused";
  if (status === 503 && code === "CONFLICT_RETRY") return "conflict";
  if (status === 503 && code === "OUTCOME_UNKNOWN") return "unknown";
  return "unexpected";
}
