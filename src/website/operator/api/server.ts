import type { Result } from "../../api/result.ts";

/** What the server says of itself and of its sealed history, to everybody. */

/** /readyz, which answers with a status of 503 when the server is not ready. */
export async function askForReadiness(): Promise<Result<unknown>> {
  try {
    const response = await fetch("/readyz", { cache: "no-store" });
    return { ok: true, data: (await response.json()) as unknown };
  } catch {
    return { ok: false, problem: { status: 0, error: "No answer from the server" } };
  }
}
