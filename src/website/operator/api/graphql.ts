import { signal } from "@preact/signals";
import { unreadable } from "../../api/result.ts";
import type { Problem, Result } from "../../api/result.ts";
import { send } from "./calls.ts";
import { noteEnd } from "./session.ts";

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

/** Asks a query or gives a command. */
export async function ask<Data>(
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Result<Data>> {
  const result = await send<GraphqlAnswer<Data>>("POST", "/admin/graphql", { query, variables });
  if (!result.ok) {
    if (result.problem.status === 401) noteEnd();
    return { ok: false, problem: result.problem };
  }
  const { data, errors = [] } = result.data;
  const [first] = errors;
  if (first !== undefined) return { ok: false, problem: problemOf(first) };
  return data === undefined || data === null
    ? { ok: false, problem: unreadable }
    : { ok: true, data };
}

function problemOf(error: NonNullable<GraphqlAnswer<unknown>["errors"]>[number]): Problem {
  return { status: 200, error: error.message, code: error.extensions?.code };
}
