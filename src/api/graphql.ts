import type { Express, Request, RequestHandler, Response } from "express";
import { z } from "zod";
import type { StaffRole } from "../database/calls.ts";
import { createCallLimiter } from "../database/call_limiter.ts";
import { DatabaseFailure } from "../database/failures.ts";
import { WHEN_UNKNOWN } from "../graphql/answers.ts";
import type { GraphqlEndpoint } from "../graphql/endpoint.ts";
import { setCaller } from "../http/authentication.ts";
import { readJson } from "../http/json_body.ts";
import { outcomeUnknown, plainProblem, ProblemError, rejection } from "../http/problems.ts";
import { noteRejections, sendText } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import { createTally } from "../tally.ts";
import type { Tally } from "../tally.ts";
import type { Context } from "./context.ts";
import { installGraphiql } from "./graphiql.ts";

const bodySchema = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});

const tooLarge = new ProblemError(plainProblem(413, "The body is larger than 1 MiB"));
const isTooLarge = (fault: Error): boolean => "status" in fault && fault.status === 413;
const notJson = plainProblem(415, "The content type must be application/json");
const problems = {
  CONFLICT_RETRY: rejection("CONFLICT_RETRY"),
  OUTCOME_UNKNOWN: outcomeUnknown(WHEN_UNKNOWN),
  UNAVAILABLE: plainProblem(503, "GraphQL is not available: the log of the server says why"),
};

/**
 * GraphQL for analysts and for operators, by keys of their own; for operators also by the session of a
 * member of staff, from the website's pages. Traders' keys and sessions are rejected.
 */
export function installGraphql(app: Express, context: Context): void {
  const { analysts, operators } = context.graphql;
  if (analysts !== undefined) app.post("/graphql", executeOn(analysts, context));
  if (operators !== undefined) {
    app.post("/admin/graphql", executeOn(operators, context));
    installGraphiql(app, { path: "/admin/graphiql", endpoint: "/admin/graphql" });
  }
}

/** The bodies of a caller that are read and parsed at a time. Further ones are left with the client. */
const reading = { limits: { most: 100, each: { caller: 8 } } };
/**
 * A caller's queries run one after the other, and two in all: while an answer is made, its thread does
 * nothing else. Mutations have turns of their own, so that none waits for a query. A request may take
 * 30 s, so another waits longer than that for its turn.
 */
const turns = { limits: { most: 2, each: { caller: 1 } }, patienceMs: 35_000 };
/** Of one caller, a quarter of these may wait. Variables of queries are short, those of mutations not. */
const WAITING_CAPS = { query: 400, mutation: 100 };
/** Characters of a caller's answers that the clients have not taken: four of the longest. */
const MOST_UNTAKEN = 40_000_000;

/** What is under way of one kind of operation. */
function makeLane(waitingCap: number) {
  return {
    limiter: createCallLimiter({ ...turns, waitingCap }),
    untaken: createTally(),
  };
}

function executeOn(endpoint: GraphqlEndpoint, context: Context): RequestHandler {
  const readers = createCallLimiter(reading);
  const lanes = {
    query: makeLane(WAITING_CAPS.query),
    mutation: makeLane(WAITING_CAPS.mutation),
  };
  return async (request, response) => {
    const { id: caller, credential } = await identify(endpoint.role, request, response, context);
    await context.access.countAttempt({ graphql: caller }, response);
    const read = readers.turn(caller, { caller });
    const query = await read(() => readQuery(endpoint.role, request, response));
    const { isMutation, findTooLong } = await import("../graphql/operation.ts");
    const call = { credential, isMutation: isMutation(query), request: query };
    const isCommand = call.isMutation && endpoint.role === "operator";
    // Here, since what is too deep can't be told to the thread, and what is too long must not wait.
    const tooLong = findTooLong(query, call.isMutation);
    if (tooLong !== undefined) {
      if (isCommand) noteRejections(response, ["INVALID_REQUEST"]);
      sendText(response, 400, JSON.stringify({ errors: [tooLong] }));
      return;
    }
    const { limiter, untaken } = lanes[call.isMutation ? "mutation" : "query"];
    const turn = limiter.turn(caller, { caller });
    const answer = await turn(async () => {
      // A command is carried out, as one whose client leaves while it runs.
      if (response.destroyed && !call.isMutation) return undefined;
      if (untaken.of(caller) > MOST_UNTAKEN) throw new DatabaseFailure("overloaded");
      return await endpoint.answer(call);
    });
    if (answer === undefined) return;
    if (!("json" in answer)) throw new ProblemError(problems[answer.rejection]);
    if (isCommand) noteRejections(response, answer.codes);
    countUntilTaken(untaken, caller, answer.json.length, response);
    sendText(response, answer.status, answer.json);
  };
}

async function readQuery(
  role: StaffRole,
  request: Request,
  response: Response,
): Promise<z.output<typeof bodySchema>> {
  // Commands of operators may have long lists. The caller is known by now.
  const fault = await readJson(request, response, { mayBeLong: role === "operator" });
  if (fault !== undefined) throw role === "operator" && isTooLarge(fault) ? tooLarge : fault;
  return validate(bodySchema, request.body);
}

/** Counts characters for a caller until the client has taken the answer or is gone. */
function countUntilTaken(
  untaken: Tally,
  caller: string,
  characters: number,
  response: Response,
): void {
  if (response.destroyed) return;
  untaken.add(caller, characters);
  response.once("close", () => {
    untaken.add(caller, -characters);
  });
}

/** Who calls: the id of a member of staff or of a key, and the SHA-256 of the cookie or key, in hex. */
interface GraphqlCaller {
  id: string;
  credential: string;
}

/**
 * Finds the caller by a key or a session of staff. Browsers may send the cookie of a session with
 * requests that other pages cause, so these are told apart by their origin and their content type.
 */
async function identify(
  role: StaffRole,
  request: Request,
  response: Response,
  { access, site }: Context,
): Promise<GraphqlCaller> {
  if (role === "analyst" || request.headers.authorization !== undefined) {
    const staff = await access.identifyStaff(role, request, response);
    if (role === "operator") setCaller(response, staff);
    return { id: staff.staffKeyId, credential: staff.keyHash.toString("hex") };
  }
  const caller = await access.identify("staff", request, response);
  setCaller(response, caller);
  site.checkOrigin(request);
  if (typeof request.is("application/json") !== "string") throw new ProblemError(notJson);
  return { id: caller.staffId, credential: caller.cookieHash.toString("hex") };
}
