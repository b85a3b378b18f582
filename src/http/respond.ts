import type { ServerResponse } from "node:http";
import type { Problem } from "./problems.ts";

const RETRY_AFTER_SECONDS = 1;

/** Answers with text: JSON unless given, such as a body that the database made. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  contentType = "application/json; charset=utf-8",
): void {
  response.statusCode = status;
  response.setHeader("Content-Type", contentType);
  // Shared caches keep only what is allowed explicitly.
  if (!response.hasHeader("Cache-Control")) response.setHeader("Cache-Control", "no-store");
  response.end(text);
}

const sentProblems = new WeakMap<ServerResponse, Problem>();

/** Answers with a problem. It is never cached. */
export function sendProblem(response: ServerResponse, problem: Problem): void {
  sentProblems.set(response, problem);
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
