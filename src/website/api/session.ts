import { batch, signal } from "@preact/signals";
import { readStored, writeStored } from "./stored.ts";

/**
 * The session of this browser. Its cookie is not for scripts; what a request needs is a token,
 * which lasts for minutes and is asked for when it is missing. Local storage only remembers that
 * there is a session, so that pages do not ask without need, and informs the other tabs.
 */

const HINT = "pgmarkets.signed-in";
/** A token is renewed this long before it ends. */
const SPARE_MS = 20_000;

/** What local storage said last. */
let hint = readHint();

/** Whether a user is signed in, as far as this tab knows. */
export const isSignedIn = signal(hint !== undefined);

/**
 * Marks the last sign-in that this tab knows of. Another one may be of another user, so nothing that
 * was read or typed before is shown then, or sent. It stays when the session ends.
 */
export const session = signal(hint ?? "");

/** Whether the session ended while this page was open, and no button of this page ended it. */
export const wasSignedOut = signal(false);

interface Token {
  token: string;
  goodUntil: number;
}

let kept: Token | undefined;
/** Requests that come at the same time share one question for a token. */
let asking: Promise<Token | Response> | undefined;

addEventListener("storage", ({ key }) => {
  if (key === HINT) followOtherTabs();
});

/** To be called when a user has signed in. */
export function noteSignIn(): void {
  const marker = crypto.randomUUID();
  writeHint(marker);
  begin(marker);
}

/** To be called when the server has renewed the cookie: the user is the same. */
export function noteRenewal(): void {
  dropToken();
}

/** To be called when the user has signed out. */
export function noteSignOut(): void {
  noteEnd();
  wasSignedOut.value = false;
}

function noteEnd(): void {
  writeHint(undefined);
  begin(undefined);
}

function begin(marker: string | undefined): void {
  dropToken();
  batch(() => {
    session.value = marker ?? session.peek();
    isSignedIn.value = marker !== undefined;
    wasSignedOut.value = marker === undefined;
  });
}

function dropToken(): void {
  kept = undefined;
  asking = undefined;
}

/** Learns what other tabs noted. The event may come later than a request of this tab. */
function followOtherTabs(): void {
  const now = readHint();
  if (now === hint) return;
  hint = now;
  begin(now);
}

/**
 * Sends a request with the session's token; once more with a new token if that had ended. A request
 * that began before another sign-in is not sent after it.
 */
export async function fetchAsUser(request: Request): Promise<Response> {
  const begun = session.peek();
  const again = request.clone();
  const first = await sendWithToken(request, begun);
  if (first.status !== 401 || !isSignedIn.value) return first;
  dropToken();
  return await sendWithToken(again, begun);
}

/** Sends a request of anybody. A public read has the session's token, if there is one. */
export async function fetchAsVisitor(request: Request): Promise<Response> {
  if (request.method === "GET" && new URL(request.url).pathname.startsWith("/api/v1/")) {
    const token = await tokenInForce().catch(() => undefined);
    if (typeof token === "string") authorize(request, token);
  }
  return await fetch(request);
}

/** Without a token the request is not sent: its answer is that to the question for a token. */
async function sendWithToken(request: Request, begun: string): Promise<Response> {
  const token = await tokenInForce();
  followOtherTabs();
  if (session.peek() !== begun) return unauthorized();
  if (typeof token !== "string") return token;
  authorize(request, token);
  return await fetch(request);
}

function authorize(request: Request, token: string): void {
  request.headers.set("Authorization", `Bearer ${token}`);
}

function unauthorized(): Response {
  return Response.json({ error: "Unauthorized" }, { status: 401 });
}

/** The token, or the answer of a server that gives none. */
async function tokenInForce(): Promise<string | Response> {
  if (!isSignedIn.value) return unauthorized();
  if (kept !== undefined && kept.goodUntil > Date.now()) return kept.token;
  const question = (asking ??= askForToken());
  try {
    const answer = await question;
    if (answer instanceof Response) return answer.clone();
    if (asking === question) kept = answer;
    return answer.token;
  } finally {
    if (asking === question) asking = undefined;
  }
}

async function askForToken(): Promise<Token | Response> {
  const askedAt = Date.now();
  const askedBy = session.peek();
  const response = await fetch("/api/auth/token", { cache: "no-store" });
  if (response.status === 401) {
    followOtherTabs();
    if (session.peek() === askedBy && isSignedIn.peek()) noteEnd();
    return unauthorized();
  }
  if (!response.ok) return refusal(response);
  const { token, expiresAt } = (await response.json()) as { token: string; expiresAt: string };
  // By this computer's clock, which may be wrong by more than the spare time.
  const serverNow = Date.parse(response.headers.get("Date") ?? "") || askedAt;
  return { token, goodUntil: askedAt + (Date.parse(expiresAt) - serverNow) - SPARE_MS };
}

/** Other answers than 429 and 503 leave open what was done; here it is known that nothing was. */
function refusal({ status, headers, body }: Response): Response {
  return new Response(body, { status: status === 429 ? 429 : 503, headers });
}

function readHint(): string | undefined {
  return readStored("localStorage", HINT);
}

function writeHint(marker: string | undefined): void {
  writeStored("localStorage", HINT, marker);
  hint = readHint();
}
