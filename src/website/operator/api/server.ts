import createClient from "openapi-fetch";
import type { paths } from "../../../client/schema.d.ts";
import { resultOf } from "../../api/result.ts";
import type { Result } from "../../api/result.ts";

/** The API of this server, by the cookie of the session. */
export const api = createClient<paths>({ baseUrl: location.origin, cache: "no-store" });

/** The head of the sealed history. */
export async function askForHead(): Promise<Result<unknown>> {
  return await resultOf(api.GET("/api/v1/proofs/head"));
}

/** Root and total of the last proof of balances. */
export async function askForProof(): Promise<Result<unknown>> {
  return await resultOf(api.GET("/api/v1/proofs/balances"));
}

/** /readyz, which answers with a status of 503 when the server is not ready. */
export async function askForReadiness(): Promise<Result<unknown>> {
  try {
    const response = await fetch("/readyz", { cache: "no-store" });
    return { ok: true, data: (await response.json()) as unknown };
  } catch {
    return { ok: false, problem: { status: 0, error: "No answer from the server" } };
  }
}
