import { publicApi } from "./client.ts";
import { keepAnswers } from "./kept_answers.ts";
import { resultOf } from "./result.ts";
import type { Result } from "./result.ts";
import type { EventWithMarkets } from "./types.ts";

/** What lists need of the catalogue. It rarely changes, so it is kept for a while. */

const KEPT_MS = 10 * 60_000;

export interface Category {
  slug: string;
  name: string;
}

/** An event, as the heading of its markets has it. */
export type ListedEvent = Pick<EventWithMarkets, "title" | "startsAt" | "endsAt">;

const categories = keepAnswers({ name: "categories", keptMs: KEPT_MS, ask: askForCategories });
const events = keepAnswers({ name: "event", keptMs: KEPT_MS, ask: askForEvent });

/** All categories, in display order. */
export async function readCategories(): Promise<Result<Category[]>> {
  return await categories.read("all");
}

/** An event by its id. */
export async function readEvent(id: string): Promise<Result<ListedEvent>> {
  return await events.read(id);
}

async function askForCategories(): Promise<Result<Category[]>> {
  const result = await resultOf(publicApi.GET("/api/v1/categories"));
  return result.ok ? { ok: true, data: result.data.data } : result;
}

async function askForEvent(id: string): Promise<Result<ListedEvent>> {
  const params = { path: { id } };
  const result = await resultOf(publicApi.GET("/api/v1/events/{id}", { params }));
  if (!result.ok) return result;
  const { title, startsAt, endsAt } = result.data;
  return { ok: true, data: { title, startsAt, endsAt } };
}
