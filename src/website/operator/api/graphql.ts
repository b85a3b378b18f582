import { signal } from "@preact/signals";
import { resultOf, unreadable } from "../../api/result.ts";
import type { Problem, Result } from "../../api/result.ts";
import { noteServerTime } from "../../api/server_time.ts";
import { noteEnd } from "./session.ts";
import { ofCommand } from "./words.ts";

/** The operators' GraphQL: every list and every command of these pages goes by it. */

interface GraphqlAnswer<Data> {
  data?: Data | null;
  errors?: { message: string; extensions?: { code?: string } }[];
}

/** Rises when a command of this window may have changed something. */
export const changes = signal(0);

/** To be called after a command. */
export function noteChange(): void {
  changes.value += 1;
}

/** Asks a query or gives a command, by the cookie of the session. */
export async function ask<Data>(
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Result<Data>> {
  const result = await resultOf(post<Data>({ query, variables }));
  if (!result.ok) {
    if (result.problem.status === 401) noteEnd();
    return refusal(ofCommand(query, result.problem));
  }
  const { data, errors } = result.data;
  const problem = problemOf(errors);
  if (problem !== undefined) return refusal({ status: 200, ...problem });
  return data === undefined || data === null
    ? { ok: false, problem: unreadable }
    : { ok: true, data };
}

/** What may have been carried out may have changed something. */
function refusal(problem: Problem): { ok: false; problem: Problem } {
  if (problem.code === "OUTCOME_UNKNOWN") noteChange();
  return { ok: false, problem };
}

async function post<Data>(
  body: object,
): Promise<{ data?: GraphqlAnswer<Data>; error?: unknown; response: Response }> {
  const response = await fetch("/admin/graphql", {
    method: "POST",
    cache: "no-store",
    credentials: "same-origin",
    headers: { Accept: "application/json", "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  noteServerTime(response.headers);
  const answer = (await response.json()) as GraphqlAnswer<Data>;
  if (response.ok) return { data: answer, response };
  return { error: problemOf(answer.errors) ?? answer, response };
}

/** The first error says what is wrong. */
function problemOf(errors: GraphqlAnswer<unknown>["errors"]) {
  const first = errors?.[0];
  return first && { error: first.message, code: first.extensions?.code };
}
