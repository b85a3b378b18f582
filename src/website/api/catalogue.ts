import { publicApi } from "./client.ts";
import { keepAnswers } from "./kept_answers.ts";
import { keepBatches } from "./kept_batches.ts";
import { resultOf } from "./result.ts";
import type { Result } from "./result.ts";
import type { EventHeading } from "./types.ts";

/** What lists need of the catalogue. It rarely changes, so it is kept for a while. */

const KEPT_MS = 10 * 60_000;
const HEADING_KEPT_MS = 2 * 60_000;

export interface Category {
  slug: string;
  name: string;
}

const categories = keepAnswers({ name: "categories", keptMs: KEPT_MS, ask: askForCategories });
const headings = keepBatches({
  ...{ name: "heading", keptMs: HEADING_KEPT_MS, most: 100 },
  ask: askForHeadings,
});

/** All categories, in display order. */
export async function readCategories(): Promise<Result<Category[]>> {
  return await categories.read("all");
}

/** What lists show of these events, by one request. */
export async function readHeadings(ids: string[]): Promise<ReadonlyMap<string, EventHeading>> {
  return await headings.read(ids);
}

async function askForCategories(): Promise<Result<Category[]>> {
  const result = await resultOf(publicApi.GET("/api/v1/categories"));
  return result.ok ? { ok: true, data: result.data.data } : result;
}

async function askForHeadings(ids: string[]): Promise<Result<ReadonlyMap<string, EventHeading>>> {
  const params = { query: { events: ids.join(",") } };
  const result = await resultOf(publicApi.GET("/api/v1/event-headings", { params }));
  if (!result.ok) return result;
  return { ok: true, data: new Map(result.data.data.map((event) => [event.id, event])) };
}
