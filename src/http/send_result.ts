import type { ServerResponse } from "node:http";
import type { Outcome } from "../database/calls.ts";
import { refusalByName } from "../errors.ts";
import { sendJson, sendProblem } from "./respond.ts";

/** Answers with what a command came to: its body, or its refusal. */
export function sendResult(response: ServerResponse, status: number, outcome: Outcome): void {
  if (outcome.code === null) sendJson(response, status, outcome.body);
  else sendProblem(response, refusalByName(outcome.code, outcome.message));
}
