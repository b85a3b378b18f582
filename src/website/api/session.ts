import { signal } from "@preact/signals";

/**
 * The session of this browser. Its cookie is not for scripts; what a request needs is a token,
 * which lasts for minutes and is asked for when it is missing. Local storage only remembers that
 * there is a session, so that pages do not ask without need, and informs the other tabs.
 */

const HINT = "pgmarkets.signed-in";
/** A token is renewed this long before it ends. */
const SPARE_MS = 20_000;

/** Whether a user is signed in, as far as this tab knows. */
export const isSignedIn = signal(readHint());

interface Token {
  token: string;
  goodUntil: number;
}

let current: Promise<Token | undefined> | undefined;

addEventListener("storage", (event) => {
  if (event.key !== HINT) return;
  current = undefined;
  isSignedIn.value = readHint();
});

/** To be called when the server has set or renewed the session's cookie. */
export function noteSignIn(): void {
  current = undefined;
  writeHint(true);
  isSignedIn.value = true;
}

/** To be called when the session has ended. */
export function noteSignOut(): void {
  current = undefined;
  writeHint(false);
  isSignedIn.value = false;
}

/** Sends a request with the session's token; once more with a new token if that had ended. */
export async function fetchAsUser(request: Request): Promise<Response> {
  const again = request.clone();
  const first = await sendWithToken(request);
  if (first.status !== 401 || !isSignedIn.value) return first;
  current = undefined;
  return await sendWithToken(again);
}

/** Sends a request of anybody. A public read has the session's token, if there is one. */
export async function fetchAsVisitor(request: Request): Promise<Response> {
  if (request.method === "GET" && new URL(request.url).pathname.startsWith("/api/v1/")) {
    const token = await tokenInForce().catch(() => undefined);
    if (token !== undefined) request.headers.set("Authorization", `Bearer ${token}`);
  }
  return await fetch(request);
}

async function sendWithToken(request: Request): Promise<Response> {
  const token = await tokenInForce();
  if (token === undefined) return Response.json({ error: "Unauthorized" }, { status: 401 });
  request.headers.set("Authorization", `Bearer ${token}`);
  return await fetch(request);
}

/** Requests that come at the same time share one question for a token. */
async function tokenInForce(): Promise<string | undefined> {
  if (!isSignedIn.value) return undefined;
  const known = current === undefined ? undefined : await current.catch(() => undefined);
  if (known !== undefined && known.goodUntil > Date.now()) return known.token;
  current = askForToken();
  return (await current)?.token;
}

async function askForToken(): Promise<Token | undefined> {
  const askedAt = Date.now();
  const response = await fetch("/api/auth/token", { cache: "no-store" });
  if (response.status === 401) {
    noteSignOut();
    return undefined;
  }
  if (!response.ok) throw new TypeError("No token");
  const { token, expiresAt } = (await response.json()) as { token: string; expiresAt: string };
  // By this computer's clock, which may be wrong by more than the spare time.
  const serverNow = Date.parse(response.headers.get("Date") ?? "") || askedAt;
  return { token, goodUntil: askedAt + (Date.parse(expiresAt) - serverNow) - SPARE_MS };
}

function readHint(): boolean {
  try {
    return localStorage.getItem(HINT) === "1";
  } catch {
    return false;
  }
}

function writeHint(isIn: boolean): void {
  try {
    if (isIn) localStorage.setItem(HINT, "1");
    else localStorage.removeItem(HINT);
  } catch {
    // Without storage every page asks anew.
  }
}
