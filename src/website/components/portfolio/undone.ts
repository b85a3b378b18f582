import { ownApi } from "../../api/client.ts";
import { jsonResultOf } from "../../api/result.ts";
import type { StatementEntry } from "../../api/types.ts";
import { formatDateTime } from "../../format.ts";

/** When trades were undone, by the ids of trades, and of markets that were undone as a whole. */
export type Undone = Map<string, string>;

/** The most that the server gives at once. */
const PAGE = 200;
/** Of somebody with very many entries beside the trades, not all are read. */
const MOST_PAGES = 5;

/** Notes what these entries of the statement undid. */
export function noteUndone(undone: Undone, entries: StatementEntry[]): void {
  for (const { kind, tradeId, marketId, createdAt } of entries) {
    const id = tradeId ?? marketId;
    if (kind === "void" && id !== null) undone.set(id, createdAt);
  }
}

/** Reads what undid trades, from a time until another one. A trade does not say it itself. */
export async function readUndone(
  undone: Undone,
  times: { from: string; to?: string },
): Promise<void> {
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const query = { limit: PAGE, ...times, ...(cursor !== undefined && { cursor }) };
    const page = await jsonResultOf(ownApi.GET("/api/v1/me/statement", { params: { query } }));
    if (!page.ok) return;
    noteUndone(undone, page.data.data);
    if (page.data.nextCursor === null) return;
    cursor = page.data.nextCursor;
  }
}

/** "undone on 24 Nov 2026, 14:05 CET"; undefined where nothing says so. */
export function undoneWords(
  undone: Undone,
  { tradeId, marketId }: { tradeId: string; marketId: string },
): string | undefined {
  const at = undone.get(tradeId) ?? undone.get(marketId);
  return at && `undone on ${formatDateTime(at)}`;
}
