import type { ServerResponse } from "node:http";
import type { Problem } from "./problems.ts";

const RETRY_AFTER_SECONDS = 1;

/** Answers with JSON that is text already, as the database's bodies are, or with other text. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  contentType = "application/json; charset=utf-8",
): void {
  response.statusCode = status;
  response.setHeader("Content-Type", contentType);
  // Shared caches keep only what is given to them expressly.
  if (!response.hasHeader("Cache-Control")) response.setHeader("Cache-Control", "no-store");
  response.end(text);
}

const sentProblems = new WeakMap<ServerResponse, Problem>();

/** Answers with a problem; never cached. What is unavailable is soon there again. */
export function sendProblem(response: ServerResponse, problem: Problem): void {
  sentProblems.set(response, problem);
  response.setHeader("Cache-Control", "no-store");
  if (problem.status === 503 && !response.hasHeader("Retry-After")) {
    response.setHeader("Retry-After", RETRY_AFTER_SECONDS);
  }
  sendText(response, problem.status, JSON.stringify(problem.body));
}

/** The problem that an answer told of, if it did. */
export function problemSentBy(response: ServerResponse): Problem | undefined {
  return sentProblems.get(response);
}
