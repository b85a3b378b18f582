import { ApiError, badAnswer, parseJson } from "./api_error.ts";
import { askUntilAnswered } from "./attempts.ts";
import type { Question } from "./attempts.ts";
import { openBooks } from "./books.ts";
import type { Books, BooksOptions } from "./books.ts";
import type { Answer, ApiPath, CallOptions, Method, OptionsArgument } from "./call_types.ts";
import type { StreamMeans } from "./connection.ts";
import { checkedLimit, checkedPatience, realTiming } from "./timing.ts";
import type { Timing } from "./timing.ts";
import { openUserStream } from "./user_stream.ts";
import type { UserStream, UserStreamOptions } from "./user_stream.ts";

export { ApiError } from "./api_error.ts";
export type { ClientCode } from "./api_error.ts";
export type { Books, BooksOptions, Level, LocalBook, MarketChange } from "./books.ts";
export type { Answer, ApiPath, CallOptions, OptionsOf } from "./call_types.ts";
export type { OnConnection } from "./connection.ts";
export type { components, paths } from "./schema.d.ts";
export type { UserEvent, UserStream, UserStreamOptions } from "./user_stream.ts";

export interface ClientOptions {
  /** Of the service, such as https://exchange.example. */
  url: string;
  /** An API key. Without one, only public reads and books are possible. */
  key?: string | undefined;
  /** How long an attempt waits for its answer, 24 days at most. 10 seconds unless given. */
  timeoutMs?: number | undefined;
  /**
   * A request is not repeated later than this after its first attempt. 30 seconds unless given.
   * Infinity: it is repeated until it is answered.
   */
  patienceMs?: number | undefined;
  /** A stream on which nothing comes for so long is opened again. 60 seconds unless given. */
  idleMs?: number | undefined;
  /** Instead of the global one. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Instead of the clock and the random numbers of this machine, for tests. */
  timing?: Timing | undefined;
}

/** An answer with what came beside its body. */
export interface FullAnswer<Data> {
  data: Data;
  status: number;
  headers: Headers;
  /** Of a command. */
  idempotencyKey: string | undefined;
  /** Whether the command had been carried out before, and this is its first answer. */
  isReplay: boolean;
  /** `X-Market-Version`. */
  marketVersion: number | undefined;
}

type Call<M extends Method> = <Path extends ApiPath<M>>(
  path: Path,
  ...options: OptionsArgument<Path, M>
) => Promise<Answer<Path, M>>;

/** Calls of the HTTP interface. Each one throws an {@link ApiError} unless it succeeds. */
export interface Client {
  get: Call<"get">;
  post: Call<"post">;
  put: Call<"put">;
  patch: Call<"patch">;
  delete: Call<"delete">;
  /** Any of these, with status and headers. */
  send: <M extends Method, Path extends ApiPath<M>>(
    method: M,
    path: Path,
    ...options: OptionsArgument<Path, M>
  ) => Promise<FullAnswer<Answer<Path, M>>>;
  /** What happens to the caller. */
  userStream: (options?: UserStreamOptions) => UserStream;
  /** Books of up to 200 markets. */
  books: (marketIds: readonly string[], options?: BooksOptions) => Books;
}

/** What a call is given, whatever its route. */
interface AnyOptions extends CallOptions {
  path?: Record<string, string | number>;
  query?: Record<string, string | number | boolean | null | undefined>;
  body?: unknown;
}

/** Ends the paths of reads that are sent by POST. */
const PREVIEW = "/preview";

/** A client of the exchange at an address. */
export function createClient(options: ClientOptions): Client {
  const timeoutMs = checkedLimit("timeoutMs", options.timeoutMs ?? 10_000);
  const patienceMs = checkedPatience(options.patienceMs ?? 30_000);
  const idleMs = checkedLimit("idleMs", options.idleMs ?? 60_000);
  const { key } = options;
  const fetch = options.fetch ?? globalThis.fetch;
  const timing = options.timing ?? realTiming;
  const base = options.url.replace(/\/+$/, "");
  const means: StreamMeans = { fetch, timing, timeoutMs, idleMs };
  const headers = { ...(key !== undefined && { Authorization: `Bearer ${key}` }) };

  async function send(
    method: Method,
    path: string,
    call: AnyOptions = {},
  ): Promise<FullAnswer<unknown>> {
    // Other commands take no key, so repeating them would not be safe.
    if (!path.startsWith("/api/v1/")) throw new TypeError(`${path} is not below /api/v1/`);
    const question = questionOf(method, base + urlOf(path, call), headers, call);
    const { idempotencyKey } = question;
    const effort = {
      timeoutMs: checkedLimit("timeoutMs", call.timeoutMs ?? timeoutMs),
      patienceMs: checkedPatience(call.patienceMs ?? patienceMs),
      signal: call.signal,
    };
    const answer = await askUntilAnswered(question, effort, { fetch, timing });
    const data = parseJson(answer.text);
    if (data === undefined) {
      const isOutcomeUnknown = idempotencyKey !== undefined;
      const failure = badAnswer("The answer is not JSON: is this the address of the API?", answer);
      throw new ApiError(failure, { idempotencyKey, isOutcomeUnknown });
    }
    const version = answer.headers.get("X-Market-Version");
    return {
      ...{ data, idempotencyKey, status: answer.status, headers: answer.headers },
      isReplay: answer.headers.get("Idempotency-Replayed") === "true",
      marketVersion: version === null ? undefined : Number(version),
    };
  }

  const callBy = (method: Method) => async (path: string, call?: AnyOptions) =>
    (await send(method, path, call)).data;
  // The types are those of the routes, which no value shows.
  return {
    get: callBy("get") as Call<"get">,
    post: callBy("post") as Call<"post">,
    put: callBy("put") as Call<"put">,
    patch: callBy("patch") as Call<"patch">,
    delete: callBy("delete") as Call<"delete">,
    send: send as Client["send"],
    userStream: (stream = {}) => {
      const { include = [] } = stream;
      const query = include.length === 0 ? "" : `?include=${include.join(",")}`;
      const place = { url: `${base}/api/v1/user/stream${query}`, headers };
      return openUserStream(place, stream, means);
    },
    books: (marketIds, books = {}) =>
      openBooks({ url: `${base}/api/v1/stream`, marketIds }, books, means),
  };
}

/** The request of a call. Commands get a key, and hear of fields that do not exist. */
function questionOf(
  method: Method,
  url: string,
  headers: Record<string, string>,
  { body, idempotencyKey }: AnyOptions,
): Question {
  const isCommand = method !== "get" && !url.endsWith(PREVIEW);
  const key = isCommand ? (idempotencyKey ?? keyIn(body) ?? crypto.randomUUID()) : undefined;
  return {
    method: method.toUpperCase(),
    url,
    headers: {
      ...headers,
      Accept: "application/json",
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...(method !== "get" && { Prefer: "handling=strict" }),
      ...(key !== undefined && { "Idempotency-Key": key }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    idempotencyKey: key,
  };
}

/** POST /orders also takes its key in the body, and both must agree. */
function keyIn(body: unknown): string | undefined {
  const known = body as { idempotencyKey?: unknown } | null | undefined;
  const key = known?.idempotencyKey;
  return typeof key === "string" ? key : undefined;
}

/** A path with its parameters. */
function urlOf(path: string, { path: parts = {}, query = {} }: AnyOptions): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = parts[name];
    if (value === undefined || value === "") throw new TypeError(`${path} needs ${name}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.append(name, String(value));
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}
