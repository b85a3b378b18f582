/** What became of a request. */
export type Result<Data> = { ok: true; data: Data } | { ok: false; problem: Problem };

/** Why a request failed. */
export interface Problem {
  /** 0: there was no answer. */
  status: number;
  /** In the server's words. */
  error: string;
  code?: string | undefined;
  retryAfterSeconds?: number | undefined;
  issues?: { path: string; message: string }[] | undefined;
}

interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** Of an answer that this page does not understand. */
export const unreadable: Problem = { status: 200, error: "", code: "UNREADABLE" };

/** Waits for an answer of the API. It never throws. */
export async function resultOf<Data>(asking: Promise<Answer<Data>>): Promise<Result<Data>> {
  try {
    const { data, error, response } = await asking;
    if (response.ok && data !== undefined) return { ok: true, data };
    return { ok: false, problem: problemOf(error, response) };
  } catch {
    return { ok: false, problem: { status: 0, error: "No answer from the server" } };
  }
}

/** Waits for JSON of a route that can also answer with CSV. */
export async function jsonResultOf<Data>(
  asking: Promise<Answer<Data>>,
): Promise<Result<Exclude<Data, string>>> {
  return (await resultOf(asking)) as Result<Exclude<Data, string>>;
}

function problemOf(body: unknown, response: Response): Problem {
  const known = typeof body === "object" && body !== null ? (body as Partial<Problem>) : {};
  const retryAfter = Number(response.headers.get("Retry-After") ?? NaN);
  return {
    status: response.status,
    error: known.error ?? `The server answered with status ${response.status}`,
    code: known.code,
    issues: known.issues,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  };
}

/** Pages that were refused together do not all come back together. */
const SPREAD_MS = 2000;

/** Of a problem that passes, when the server did not say how soon. */
const PAUSE_SECONDS = 5;

/** When to read again by itself after a problem; undefined after one that does not pass. */
export function retryDelayMs(problem: Problem, random = Math.random()): number | undefined {
  const seconds = problem.retryAfterSeconds ?? (isTemporary(problem) ? PAUSE_SECONDS : undefined);
  return seconds === undefined ? undefined : Math.round(seconds * 1000 + random * SPREAD_MS);
}

/** Whether the same request may succeed later, or already has without telling. */
export function isUncertain({ status, code }: Problem): boolean {
  return status === 0 || status === 502 || status === 504 || code === "OUTCOME_UNKNOWN";
}

/**
 * Whether the same request may succeed soon. GraphQL has CONFLICT_RETRY with status 200 beside results
 * of other fields.
 */
export function isTemporary(problem: Problem): boolean {
  const { status, code } = problem;
  const isBusy = code === "CONFLICT_RETRY" || (status === 503 && code !== "TRADING_PAUSED");
  return isBusy || isUncertain(problem);
}

/** Whether the session has ended. A wrong password has the same status. */
export function isSignedOut({ status, error }: Problem): boolean {
  return status === 401 && error === "Unauthorized";
}

/**
 * Whether the request was rejected before the exchange looked at it, so that nothing is known of
 * the same request sent before.
 */
export function isUnread(problem: Problem): boolean {
  return problem.status === 401 || problem.status === 429;
}
