import type { ServerResponse } from "node:http";
import { errorCodes } from "../database/error_codes.ts";
import type { ErrorCodeName } from "../database/error_codes.ts";
import { writeText } from "../http_server.ts";
import type { Problem } from "./problems.ts";

const RETRY_AFTER_SECONDS = 1;

/** Answers with text, maybe in UTF-8: JSON unless given, such as a body that the database made. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string | Uint8Array,
  contentType?: string,
): void {
  if (status >= 400 && !response.hasHeader("X-Error-Code")) {
    response.setHeader("X-Error-Code", codeOfStatus(status));
  }
  writeText(response, status, text, contentType);
}

/** The code of an answer that has none of its own. */
function codeOfStatus(status: number): ErrorCodeName {
  return codesByStatus.get(status) ?? (status < 500 ? "INVALID_REQUEST" : "INTERNAL_ERROR");
}

const generalCodes = ["NOT_FOUND", "TOO_MANY_REQUESTS", "SERVICE_UNAVAILABLE"] as const;

const codesByStatus = new Map<number, ErrorCodeName>(
  generalCodes.map((name) => [errorCodes[name].status, name]),
);

const sentProblems = new WeakMap<ServerResponse, Problem>();

/** Answers with a problem. It is never cached. */
export function sendProblem(response: ServerResponse, problem: Problem): void {
  sentProblems.set(response, problem);
  if (problem.code !== undefined) response.setHeader("X-Error-Code", problem.code);
  response.setHeader("Cache-Control", "no-store");
  if (problem.status === 503 && !response.hasHeader("Retry-After")) {
    response.setHeader("Retry-After", RETRY_AFTER_SECONDS);
  }
  sendText(response, problem.status, JSON.stringify(problem.body));
}

/** The problem that was the answer, if any. */
export function problemSentBy(response: ServerResponse): Problem | undefined {
  return sentProblems.get(response);
}

const rejectedWithin = new WeakMap<ServerResponse, readonly ErrorCodeName[]>();

/** Notes the codes with which commands of a request were rejected that is no problem itself. */
export function noteRejections(response: ServerResponse, codes: readonly ErrorCodeName[]): void {
  if (codes.length > 0) rejectedWithin.set(response, codes);
}

/** The codes of the commands of a request that were rejected, each once; undefined if none was. */
export function rejectionsWithin(response: ServerResponse): readonly ErrorCodeName[] | undefined {
  return rejectedWithin.get(response);
}

/** The codes with which a request, or the commands in it, were rejected. */
export function codesOf(response: ServerResponse): readonly ErrorCodeName[] {
  const code = problemSentBy(response)?.code;
  return code === undefined ? (rejectionsWithin(response) ?? []) : [code];
}
