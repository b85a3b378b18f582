import type { ServerResponse } from "node:http";
import type { Problem } from "../errors.ts";

const RETRY_AFTER_SECONDS = 1;
const JSON_CONTENT = "application/json; charset=utf-8";

/** Answers with JSON that is text already, as the database's bodies are. */
export function sendJson(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status;
  response.setHeader("Content-Type", JSON_CONTENT);
  // A shared cache keeps nothing that was not given to it expressly.
  if (!response.hasHeader("Cache-Control")) response.setHeader("Cache-Control", "no-store");
  response.end(body);
}

const sentProblems = new WeakMap<ServerResponse, Problem>();

/** Answers with a problem; never cached. What is unavailable is soon there again. */
export function sendProblem(response: ServerResponse, problem: Problem): void {
  sentProblems.set(response, problem);
  response.setHeader("Cache-Control", "no-store");
  if (problem.status === 503 && !response.hasHeader("Retry-After")) {
    response.setHeader("Retry-After", RETRY_AFTER_SECONDS);
  }
  sendJson(response, problem.status, JSON.stringify(problem.body));
}

/** The problem that an answer told of, if it did. */
export function problemSentBy(response: ServerResponse): Problem | undefined {
  return sentProblems.get(response);
}
