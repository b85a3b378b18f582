import type { paths } from "./schema.d.ts";

/** The types of calls, which all follow from the OpenAPI document. */

export type Method = "get" | "post" | "put" | "patch" | "delete";

type OperationOf<Path extends keyof paths, M extends Method> =
  paths[Path] extends Record<M, infer Operation> ? Operation : never;

type JsonOf<Response> = Response extends { content: { "application/json": infer Json } }
  ? Json
  : never;

type SuccessOf<Operation> = Operation extends { responses: infer Responses }
  ? JsonOf<Responses[keyof Responses & (200 | 201)]>
  : never;

/** What may be left out may be undefined, too, also under exactOptionalPropertyTypes. */
type Lenient<Members> = {
  [Name in keyof Members]:
    Members[Name] | (Pick<Partial<Members>, Name> extends Pick<Members, Name> ? undefined : never);
};

type QueryOf<All> = All extends { query: infer Query }
  ? { query: Lenient<Query> }
  : All extends { query?: infer Query }
    ? { query?: Lenient<NonNullable<Query>> | undefined }
    : unknown;

type ParametersOf<Operation> = Operation extends { parameters: infer All }
  ? Pick<All, keyof All & "path"> & QueryOf<All>
  : unknown;

type JsonIn<Request> = Request extends { content: { "application/json": infer Json } }
  ? Json
  : never;

/** A body in which nothing is needed may be left out. */
type BodyOf<Operation> = Operation extends { requestBody: infer Request }
  ? object extends JsonIn<Request>
    ? { body?: JsonIn<Request> | undefined }
    : { body: JsonIn<Request> }
  : unknown;

/** What a route answers when it succeeds. */
export type Answer<Path extends keyof paths, M extends Method> = SuccessOf<OperationOf<Path, M>>;

/** The routes of the API that have this method and answer with JSON. */
export type ApiPath<M extends Method> = {
  [Path in keyof paths & `/api/v1/${string}`]: [Answer<Path, M>] extends [never] ? never : Path;
}[keyof paths & `/api/v1/${string}`];

/** How a call is made. */
export interface CallOptions {
  /** Of a command: a UUID. Without it the client makes one. */
  idempotencyKey?: string | undefined;
  /** Ends the call, which then throws the signal's reason. A command may be carried out anyway. */
  signal?: AbortSignal | undefined;
  /** How long an attempt waits for its answer, instead of what the client has. */
  timeoutMs?: number | undefined;
  /** No attempt begins later than this after the first one, instead of what the client has. */
  patienceMs?: number | undefined;
}

/** What a route needs, and how it is called. */
export type OptionsOf<Path extends keyof paths, M extends Method> = CallOptions &
  ParametersOf<OperationOf<Path, M>> &
  BodyOf<OperationOf<Path, M>>;

/** The options may be left out if the route needs nothing. */
export type OptionsArgument<Path extends keyof paths, M extends Method> =
  CallOptions extends OptionsOf<Path, M>
    ? [options?: OptionsOf<Path, M>]
    : [options: OptionsOf<Path, M>];
