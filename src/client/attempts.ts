import { ApiError, failureOf } from "./api_error.ts";
import type { Failure, ReadAnswer } from "./api_error.ts";
import { backoffMs } from "./timing.ts";
import type { Timing } from "./timing.ts";

/** One request, as it is sent each time. */
export interface Question {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | undefined;
  /** Of a command: the server carries it out once, however often it comes. */
  idempotencyKey?: string | undefined;
}

/** How long to try. */
export interface Effort {
  /** How long an attempt waits for its answer. */
  timeoutMs: number;
  /** No attempt begins later than this after the first one. */
  patienceMs: number;
  /** Ends the call, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** What an attempt was for the command. */
type Effect = "none" | "unknown";

/**
 * Sends a request until it is answered. It is repeated when the answer is lost, and when the server
 * asks for it: after 429, and after 503 except for TRADING_PAUSED. That is safe, since reads change
 * nothing and commands have a key. Everything else is an answer, or throws an {@link ApiError}.
 */
export async function askUntilAnswered(
  question: Question,
  effort: Effort,
  { fetch, timing }: { fetch: typeof globalThis.fetch; timing: Timing },
): Promise<ReadAnswer> {
  const { idempotencyKey } = question;
  const isCommand = idempotencyKey !== undefined;
  const lastStart = timing.now() + effort.patienceMs;
  let isDoubtful = false;
  for (let failures = 0; ; failures++) {
    const answer = await ask(question, effort, fetch);
    const failure = "text" in answer ? failureOf(answer) : answer;
    if (failure === undefined) return answer as ReadAnswer;
    if (effectOf(failure) === "unknown") isDoubtful = true;
    else if (isDecided(failure)) isDoubtful = false;
    const waitMs = backoffMs(failures, failure.retryAfter, timing.random);
    if (!isTemporary(failure) || timing.now() + waitMs > lastStart) {
      throw new ApiError(failure, { idempotencyKey, isOutcomeUnknown: isCommand && isDoubtful });
    }
    await timing.sleep(waitMs, effort.signal);
  }
}

/** Sends a request once. Throws only if the caller's signal says so. */
async function ask(
  { method, url, headers, body }: Question,
  { timeoutMs, signal }: Effort,
  fetch: typeof globalThis.fetch,
): Promise<ReadAnswer | Failure> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const late = new Error("late");
  const timer = setTimeout(() => {
    controller.abort(late);
  }, timeoutMs);
  const abort = () => {
    controller.abort(signal?.reason);
  };
  signal?.addEventListener("abort", abort);
  try {
    const init = { method, headers, redirect: "manual", cache: "no-store" } as const;
    const response = await fetch(url, {
      ...init,
      ...(body !== undefined && { body }),
      signal: controller.signal,
    });
    // The body belongs to the attempt: a connection may break in its middle.
    const text = await response.text();
    return { status: response.status, headers: response.headers, text };
  } catch (cause) {
    signal?.throwIfAborted();
    return controller.signal.reason === late
      ? { status: 0, code: "TIMEOUT", message: `No answer within ${timeoutMs} ms`, cause }
      : { status: 0, code: "NO_ANSWER", message: `No answer: ${reasonOf(cause)}`, cause };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** What fetch says in words, with the reason that Node hides below them. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const code = cause instanceof Error ? ((cause as { code?: string }).code ?? cause.message) : "";
  return code === "" ? error.message : `${error.message} (${code})`;
}

/** Whether the same request may succeed soon. */
export function isTemporary({ status, code }: Failure): boolean {
  if (status === 0) return true;
  if (status === 503) return code !== "TRADING_PAUSED";
  return status === 429 || status === 502 || status === 504 || status === 408;
}

function effectOf({ status, code }: Failure): Effect {
  if (status === 503) {
    // Without a code the answer is not the server's own.
    return code === undefined || code === "OUTCOME_UNKNOWN" ? "unknown" : "none";
  }
  return status === 0 || status >= 500 ? "unknown" : "none";
}

/**
 * Whether a rejection also says that no attempt before it was carried out. The server looks for the
 * key before it applies its rules, but after it has checked who calls and how often.
 */
function isDecided({ status, code }: Failure): boolean {
  // Without a code the answer is not the server's own.
  if (code === undefined) return false;
  if (code === "TRADING_PAUSED") return true;
  return status >= 400 && status < 500 && ![401, 408, 429].includes(status) && code !== "KEY_SCOPE";
}
