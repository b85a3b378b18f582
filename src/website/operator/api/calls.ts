import { resultOf } from "../../api/result.ts";
import type { Result } from "../../api/result.ts";

/** Sends a request to this server, with the cookie of the session. It never throws. */
export async function send<Data>(
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: unknown,
): Promise<Result<Data>> {
  return await resultOf(answerOf(method, path, body) as Promise<Answer<Data>>);
}

interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

async function answerOf(method: string, path: string, body: unknown): Promise<Answer<unknown>> {
  const response = await fetch(path, {
    method,
    cache: "no-store",
    credentials: "same-origin",
    headers: {
      Accept: "application/json",
      ...(body !== undefined && { "Content-Type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json: unknown = text === "" ? {} : JSON.parse(text);
  return response.ok ? { data: json, response } : { error: plain(json), response };
}

/** GraphQL lists its errors; the first one says what is wrong. */
function plain(json: unknown): unknown {
  const { errors } = json as { errors?: { message: string; extensions?: { code?: string } }[] };
  const first = errors?.[0];
  return first === undefined ? json : { error: first.message, code: first.extensions?.code };
}
