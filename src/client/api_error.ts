/** What a failure is called that the server has no code for. */
export type ClientCode = "NO_ANSWER" | "TIMEOUT" | "BAD_ANSWER" | "OUT_OF_STEP";

/** What is known of a failure. */
export interface Failure {
  /** 0: there was no answer. */
  status: number;
  /** In the server's words, if it answered. */
  message: string;
  code?: string | undefined;
  requestId?: string | undefined;
  retryAfter?: number | undefined;
  issues?: readonly { path: string; message: string }[] | undefined;
  cause?: unknown;
}

/**
 * A request that failed. `code` is one of docs/errors.md, or of the client: NO_ANSWER (the
 * connection broke), TIMEOUT, BAD_ANSWER (what came is not an answer of the API), OUT_OF_STEP (a
 * stream of changes has a gap). Undefined: something between client and server answered.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string | undefined;
  /** Names the request in the server's log. */
  readonly requestId: string | undefined;
  /** Seconds until the next attempt may succeed. */
  readonly retryAfter: number | undefined;
  /** What is wrong with the request, field by field. */
  readonly issues: readonly { path: string; message: string }[];
  /** Of a command: repeat it with this key, and it is not carried out twice. */
  readonly idempotencyKey: string | undefined;
  /** Whether the command may have been carried out. */
  readonly isOutcomeUnknown: boolean;

  constructor(
    failure: Failure,
    command: { idempotencyKey?: string | undefined; isOutcomeUnknown?: boolean } = {},
  ) {
    super(failure.message, { cause: failure.cause });
    this.status = failure.status;
    this.code = failure.code;
    this.requestId = failure.requestId;
    this.retryAfter = failure.retryAfter;
    this.issues = failure.issues ?? [];
    this.idempotencyKey = command.idempotencyKey;
    this.isOutcomeUnknown = command.isOutcomeUnknown ?? false;
  }
}

/** An answer whose body has been read. */
export interface ReadAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** The failure that an answer is; undefined for a success. */
export function failureOf({ status, headers, text }: ReadAnswer): Failure | undefined {
  if (status >= 200 && status < 300) return undefined;
  const body = (parseJson(text) ?? {}) as {
    error?: string;
    code?: string;
    issues?: Failure["issues"];
  };
  return {
    status,
    message: body.error ?? `The server answered with status ${status}`,
    code: body.code ?? headers.get("X-Error-Code") ?? undefined,
    requestId: headers.get("X-Request-Id") ?? undefined,
    retryAfter: readRetryAfter(headers.get("Retry-After")),
    issues: body.issues,
  };
}

/** The failure of an answer with status 200 that cannot be understood. */
export function badAnswer(message: string, answer: { status: number; headers: Headers }): Failure {
  const requestId = answer.headers.get("X-Request-Id") ?? undefined;
  return { status: answer.status, code: "BAD_ANSWER", message, requestId };
}

/** An object or a list; undefined if the text is none. */
export function parseJson(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds, or a date from some proxies. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
